package example

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// record is one line of a session's file.
type record struct {
	Type  string    `json:"type"`
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	CWD   string    `json:"cwd"`
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`
	Text  string    `json:"text"`
	In    int64     `json:"input"`
	Out   int64     `json:"output"`

	offset int64
}

var errUnknownForm = errors.New("no line is a known record")

// records calls fn for each known record of a file, in their order. It counts in
// skipped, by reason, the records that it does not know.
func records(ctx context.Context, path string, skipped map[string]int, fn func(r *record)) error {
	f, _, err := agentfile.OpenRegular(path) // it never waits for a named pipe
	if err != nil {
		return err
	}
	defer f.Close()
	known := 0
	_, stats, err := agentfile.Forward(ctx, f, 0, 0, func(line []byte, offset int64) error {
		r := record{offset: offset}
		if json.Unmarshal(line, &r) != nil {
			skipped["line that is not a record"]++
			return nil
		}
		switch r.Type {
		case "session", "process", "prompt", "ask", "answer":
			known++
			fn(&r)
		default:
			skipped["unknown record type "+r.Type]++
		}
		return nil
	})
	if stats.Long > 0 {
		skipped["line that is too long"] += stats.Long
	}
	if stats.Partial > 0 {
		skipped["last line without a line break: it may still be being written"]++
	}
	if err == nil && known == 0 && stats.Lines > 0 {
		return errUnknownForm
	}
	return err
}
