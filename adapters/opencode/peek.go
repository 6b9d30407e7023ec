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
	var out []adapters.Message
	var err error
	defer func() {
		for i := range out { // no process runs them any more
			if s.Status == adapters.Stopped && out[i].State == adapters.ToolRunning {
				out[i].State = adapters.ToolFailed
			}
		}
	}()
	_, err = sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		var err error
		out, err = peekDatabase(ctx, db, s.ID, n)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, adapters.Unreadable(path, err)
	}
	if err != nil {
		return nil, sqlitero.Problem(ctx, path, err, "try again", "if the agent can't open it either, move it away")
	}
	return out, nil
}

// conversation collects messages from the last to the first.
type conversation struct {
	most     int
	messages []adapters.Message // newest first
}

func (c *conversation) full() bool { return len(c.messages) >= c.most }

// result returns the collected messages, oldest first.
func (c *conversation) result() []adapters.Message {
	list := c.messages[:min(len(c.messages), c.most)]
	slices.Reverse(list)
	return list
}

// addError adds the error of a message of OpenCode, if it has one. It comes after its parts.
func (c *conversation) addError(m message) {
	if m.Error == nil {
		return
	}
	text := m.Error.Name
	if m.Error.Data.Message != "" {
		text += ": " + m.Error.Data.Message
	}
	c.messages = append(c.messages, adapters.Message{Key: m.ID + "/error", Role: adapters.FromNote,
		Text: adapters.Cut(text), At: cmp.Or(m.Time.Completed, m.Time.Created).time()})
}

// addPart adds a part of a message, if it is shown.
func (c *conversation) addPart(m message, p *part) {
	if shown, ok := p.toMessage(m); ok {
		c.messages = append(c.messages, shown)
	}
}

// toMessage returns the message for a part. ok is false for a part that is not shown.
func (p *part) toMessage(m message) (adapters.Message, bool) {
	out := adapters.Message{Key: p.ID, At: cmp.Or(p.Time.Start, m.Time.Created).time()}
	switch p.Type {
	case "text":
		if p.Synthetic || strings.TrimSpace(p.Text) == "" {
			return out, false
		}
		out.Role, out.Text = adapters.FromAgent, p.Text
		if m.Role == "user" {
			out.Role, out.Text = adapters.FromUser, fullPrompt(p.Text)
		}
	case "tool":
		out.Role = adapters.FromTool
		out.Tool = p.Tool
		out.At = cmp.Or(p.State.Time.Start, m.Time.Created).time()
		out.Text = argument(p.State.Input, p.State.Title)
		switch p.State.Status {
		case "completed":
			out.State = adapters.ToolDone
		case "error":
			out.State = adapters.ToolFailed
		default:
			out.State = adapters.ToolRunning
		}
	case "compaction":
		out.Role, out.Text = adapters.FromNote, "compaction"
	case "retry":
		out.Role, out.Text = adapters.FromNote, "retry"
	default:
		return out, false
	}
	out.Text = adapters.Cut(out.Text)
	return out, true
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

const peekBatch = 20

// peekDatabase reads messages in batches from the end.
func peekDatabase(ctx context.Context, db *sqlitero.DB, session string, n int) ([]adapters.Message, error) {
	r := &reading{db: db}
	if err := r.tables(ctx); err != nil {
		return nil, err
	}
	known, next := false, false
	err := db.Each(ctx, "SELECT id, gen FROM ("+r.storedQuery()+") WHERE id = ?", []any{session}, func(scan func(...any) error) error {
		var id string
		known = true
		return scan(&id, &next)
	})
	if err != nil || !known {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", session, errGone))
	}
	c := conversation{most: n}
	if len(r.rows) > 0 {
		if err := c.addNext(ctx, db, session); err != nil {
			return nil, err
		}
	}
	for offset := 0; !c.full() && !next; offset += peekBatch {
		batch, err := messagesBefore(ctx, db, session, offset)
		if err != nil {
			return nil, err
		}
		for _, m := range batch {
			if c.full() {
				break
			}
			c.addError(m)
			if err := c.addParts(ctx, db, m); err != nil {
				return nil, err
			}
		}
		if len(batch) < peekBatch {
			break
		}
	}
	return c.result(), nil
}

func messagesBefore(ctx context.Context, db *sqlitero.DB, session string, offset int) (list []message, err error) {
	err = db.Each(ctx, `SELECT m.id, m.time_created, `+dataOf+` FROM message m WHERE m.session_id = ?
		ORDER BY m.time_created DESC, m.id DESC LIMIT ? OFFSET ?`, []any{session, peekBatch, offset}, func(scan func(...any) error) error {
		var id string
		var data []byte
		var created millis
		if err := scan(&id, &created, &data); err != nil {
			return err
		}
		m := messageOf(data, created)
		m.ID = id
		list = append(list, m)
		return nil
	})
	return list, err
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough")

// addParts adds the parts of a message from the last to the first until there are enough messages, without the outputs of tools.
func (c *conversation) addParts(ctx context.Context, db *sqlitero.DB, m message) error {
	query := fmt.Sprintf(`SELECT p.id, CASE WHEN NOT json_valid(p.data) THEN ''
		WHEN length(p.data) <= %d THEN p.data
		WHEN json_extract(p.data, '$.type') = 'text' THEN json_set(p.data, '$.text', substr(json_extract(p.data, '$.text'), 1, %d))
		WHEN json_extract(p.data, '$.type') = 'tool' THEN json_remove(p.data, '$.state.output', '$.state.metadata',
			'$.state.attachments', '$.state.input.content', '$.state.input.newString', '$.state.input.oldString')
		ELSE '' END FROM part p WHERE p.message_id = ? ORDER BY p.id DESC`, bigData, 2*adapters.MaxText)
	err := db.Each(ctx, query, []any{m.ID}, func(scan func(...any) error) error {
		if c.full() {
			return errEnough
		}
		var id, data string
		var p part
		if err := scan(&id, &data); err != nil {
			return err
		}
		if json.Unmarshal([]byte(data), &p) == nil {
			p.ID = id
			c.addPart(m, &p)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
