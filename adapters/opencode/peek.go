package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// Peek implements adapters.Peeker. It reads the messages from the end, each with
// its parts, until there are enough.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	if len(s.Files) == 0 || !isSession(s.ID) {
		return nil, fmt.Errorf("%s: not a session of %s", s.ID, a.product.Title)
	}
	if n <= 0 {
		return nil, nil
	}
	path := s.Files[0]
	var last *kit.LastItems
	_, err := sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		last = kit.NewLastItems(&s, n)
		return peekDatabase(ctx, db, s.ID, last)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, adapters.Unreadable(path, err)
	}
	if err != nil {
		return nil, sqlitero.Problem(ctx, path, err, "try again", "if the agent can't open it either, move it away")
	}
	slices.Reverse(last.Messages)
	return last.Messages, nil
}

// errorItems returns the error of a message of OpenCode, if it has one. It comes after its parts.
func (m *message) errorItems() []kit.Item {
	if m.Error == nil {
		return nil
	}
	text := m.Error.Name
	if m.Error.Data.Message != "" {
		text += ": " + m.Error.Data.Message
	}
	return []kit.Item{{Message: adapters.Message{Key: m.ID + "/error", Role: adapters.FromNote,
		Text: adapters.Cut(text), At: cmp.Or(m.Time.Completed, m.Time.Created).time()}}}
}

// items returns what a part of a message says. What is searched is its text as it is stored.
func (p *part) items(m *message) []kit.Item {
	out := kit.Item{Message: adapters.Message{Key: p.ID, At: cmp.Or(p.Time.Start, m.Time.Created).time()}}
	switch p.Type {
	case "text":
		if p.Synthetic || strings.TrimSpace(p.Text) == "" {
			return nil
		}
		out.Texts = func() string { return p.Text }
		out.Role, out.Text = adapters.FromAgent, p.Text
		if m.Role == "user" {
			out.Role, out.Text = adapters.FromUser, fullPrompt(p.Text)
		}
	case "tool":
		out.Role = adapters.FromTool
		out.Tool = p.Tool
		out.At = cmp.Or(p.State.Time.Start, m.Time.Created).time()
		out.Text = argument(p.State.Input, p.State.Title)
		out.Texts = func() string {
			return strings.Join([]string{kit.Strings(p.State.Input), p.State.Output, p.State.Error}, "\n")
		}
		switch p.State.Status {
		case "completed":
			out.State = adapters.ToolDone
		case "error":
			out.State = adapters.ToolFailed
		default:
			out.State = adapters.ToolRunning
		}
	case "compaction", "retry":
		out.Role, out.Text = adapters.FromNote, p.Type
	}
	out.Text = adapters.Cut(out.Text)
	return []kit.Item{out}
}

// fullPrompt undoes what `opencode run` does to a prompt, at any length.
func fullPrompt(text string) string {
	if len(text) <= textLimit {
		return unquotePrompt(text)
	}
	return strings.TrimSpace(text)
}

// arguments lists the members of a tool's input that describe it best, in order of preference.
var arguments = []string{"command", "filePath", "path", "pattern", "url", "query", "description", "prompt", "name"}

// argument returns the most descriptive member of a tool's input.
func argument(input json.RawMessage, title string) string {
	text := cmp.Or(kit.Argument(input, arguments, agentfile.String), title)
	if text == "" && len(input) > len("{}") {
		return string(input)
	}
	return text
}

// errGone reports that the session was removed.
var errGone = errors.New("no such session any more")

// peekDatabase reads messages from the end.
func peekDatabase(ctx context.Context, db *sqlitero.DB, session string, last *kit.LastItems) error {
	r := &reading{db: db}
	if err := r.tables(ctx); err != nil {
		return err
	}
	known, next := false, false
	err := db.Each(ctx, "SELECT id, gen FROM ("+r.storedQuery()+") WHERE id = ?", []any{session}, func(scan func(...any) error) error {
		var id string
		known = true
		return scan(&id, &next)
	})
	if err != nil || !known {
		return errors.Join(err, fmt.Errorf("%s: %w", session, errGone))
	}
	if len(r.rows) > 0 {
		if err := peekNext(ctx, db, session, last); err != nil {
			return err
		}
	}
	if next || last.IsFull() {
		return nil
	}
	return peekV1(ctx, db, session, last)
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough")

// peekV1 adds the messages of 1.x, each with its parts, from the last to the first until there are enough, without the outputs of tools.
// SQLite sorts the parts of a message, which may be 100,000: it sorts their numbers alone, and reads those that are shown.
func peekV1(ctx context.Context, db *sqlitero.DB, session string, last *kit.LastItems) error {
	query := `SELECT m.id, m.time_created, ` + dataOf + `, coalesce(p.id, ''), ` + fmt.Sprintf(`CASE WHEN NOT coalesce(json_valid(p.data), 0) THEN ''
		WHEN length(p.data) <= %d THEN p.data
		WHEN json_extract(p.data, '$.type') = 'text' THEN json_set(p.data, '$.text', substr(json_extract(p.data, '$.text'), 1, %d))
		WHEN json_extract(p.data, '$.type') = 'tool' THEN json_remove(p.data, '$.state.output', '$.state.metadata',
			'$.state.attachments', '$.state.input.content', '$.state.input.newString', '$.state.input.oldString')
		ELSE '' END`, bigData, 2*adapters.MaxText) + ` FROM (
			SELECT l.rowid AS message, q.rowid AS part FROM message l LEFT JOIN part q ON q.message_id = l.id
			WHERE l.session_id = ? ORDER BY l.time_created DESC, l.id DESC, q.id DESC LIMIT -1
		) o CROSS JOIN message m ON m.rowid = o.message LEFT JOIN part p ON p.rowid = o.part`
	var m message
	err := db.Each(ctx, query, []any{session}, func(scan func(...any) error) error {
		if last.IsFull() {
			return errEnough
		}
		var id, partID, text string
		var data []byte
		var created millis
		if err := scan(&id, &created, &data, &partID, &text); err != nil {
			return err
		}
		if id != m.ID {
			m = messageOf(data, created)
			m.ID = id
			last.Add(m.errorItems())
		}
		var p part
		if json.Unmarshal([]byte(text), &p) == nil {
			p.ID = partID
			last.Add(p.items(&m))
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
