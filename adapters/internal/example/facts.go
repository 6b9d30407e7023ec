package example

import (
	"encoding/json"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
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
}

// facts holds what a session's file says. It has no pointer to the file's bytes.
type facts struct {
	id, cwd string
	process proc.Identity // that opened the session last
	last    string        // type of the last record of the turn: prompt, ask or answer
	fresh   bool          // the process has taken no prompt yet
	adapters.Topic
	started, at, turnAt time.Time
	ledger              kit.Ledger
	lost                string // description of a line that can't be read: its answer is missing in the ledger, and the last turn is not known
	kit.Skips
}

// Line implements kit.Gatherer.
func (f *facts) Line(line []byte) error {
	var r record
	if json.Unmarshal(line, &r) != nil {
		f.Skip("line that is not a record")
		return nil
	}
	switch r.Type {
	case "session":
		f.id = r.ID
		f.cwd = r.CWD
		f.started = r.At
	case "process":
		f.process, f.fresh = proc.Identity{PID: r.PID, Start: r.Start}, true
	case "prompt":
		f.last = r.Type
		f.fresh = false
		f.turnAt = r.At
		f.Prompt(adapters.CutTo(r.Text, kit.ShortText))
		f.ledger.Prompt()
	case "answer":
		f.last = r.Type
		f.ledger.Answer(kit.Entry{At: r.At, Tokens: adapters.Tokens{Input: r.In, Output: r.Out}})
	case "ask":
		f.last = r.Type
	default:
		f.Skip("unknown record type " + kit.PlainWord(r.Type))
		return nil
	}
	f.at = r.At
	return nil
}

// Long implements kit.Gatherer.
func (f *facts) Long(words string) {
	f.Skip(kit.LongLine)
	f.lost = words
}

// Partial implements kit.Gatherer.
func (f *facts) Partial() { f.Skip("last line without a line break: it may still be being written") }

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	return c
}
