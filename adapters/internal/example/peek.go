package example

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Peek implements adapters.Peeker. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.PeekLines(ctx, &s, n, items)
}

// Conversations implements adapters.Searcher.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, func() []*session {
		d.list()
		return d.sessions
	}, conversation)
}

func conversation(s *session) adapters.Conversation {
	return kit.FileSearch(s.Path, s.Info.ModTime(), func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		first := []byte(`"type":"session"`) // the record that names the session and its folder
		return [][]byte{first}, func(line []byte) error {
			var r record
			if json.Unmarshal(line, &r) == nil && r.Type == "session" {
				n.Hit.Session, n.Hit.CWD = r.ID, r.CWD
			}
			return n.AddItems(items(line, kit.Whole))
		}
	})
}

// items returns the message in a line: a conversation and a search are views of it.
func items(line []byte, limit kit.Limit) []kit.Item {
	var r record
	if json.Unmarshal(line, &r) != nil {
		return nil // what is no record has no message
	}
	m := adapters.Message{Key: r.Type + r.At.Format(time.RFC3339Nano), Text: limit.Cut(strings.TrimSpace(r.Text)), At: r.At}
	switch r.Type {
	case "prompt":
		m.Role = adapters.FromUser
	case "answer":
		m.Role = adapters.FromAgent
	case "ask":
		m.Role = adapters.FromTool
		m.Tool = "shell"
		m.State = adapters.ToolRunning
	default:
		return nil
	}
	return []kit.Item{{Message: m, Ends: m.Role != adapters.FromTool}}
}
