package example

import (
	"context"
	"errors"
	"strconv"

	"rollcall/adapters"
)

// Peek implements adapters.Peeker. It reads the whole file; an adapter whose
// agent writes long ones reads from the end (agentfile.Backward).
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	if len(s.Files) == 0 {
		return nil, errors.New("the session has no file")
	}
	var all []adapters.Message
	err := records(ctx, s.Files[0], map[string]int{}, func(r *record) {
		m := adapters.Message{Key: strconv.FormatInt(r.offset, 10), Text: adapters.Cut(r.Text), At: r.At}
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
			return
		}
		all = append(all, m)
	})
	if err != nil {
		return nil, problem(s.Files[0], err)
	}
	return all[max(0, len(all)-max(n, 0)):], nil
}
