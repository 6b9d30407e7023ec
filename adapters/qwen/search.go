package qwen

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations lists the files of sessions to search, and of sub-agents that run: those that are over are no sessions of their own.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.absent() {
		return nil, adapters.ErrAbsent
	}
	d.listAll()
	var list []adapters.Conversation
	for _, f := range d.files {
		if f.parent == "" && !f.info.ModTime().Before(since) {
			list = append(list, conversation(f))
		}
	}
	if len(d.processes) > 0 {
		d.query.Since = d.now // of the others nothing has to be read
		d.readEntries()
		d.read()
		d.match()
	}
	for _, s := range d.subs {
		if s.runs() && !s.info.ModTime().Before(since) {
			list = append(list, conversation(s.file))
		}
	}
	_, err := d.answer.Result(ctx, string(Name))
	return list, err
}

func conversation(f *file) adapters.Conversation {
	changed := f.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		n := &kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: f.id, Changed: changed}}
		file, _, err := agentfile.OpenUntouched(f.path)
		if err != nil {
			return nil, kit.SearchProblem(ctx, f.path, err, nil)
		}
		defer file.Close()
		skipped, err := kit.SearchLines(ctx, file, q, nil, func(line []byte, _ int64) error {
			var err error
			_, _ = agentfile.Records(line, parse, func(r *record) { // a line that is no record has no message
				if n.Hit.CWD = short(r.cwd); err == nil {
					err = search(n, r)
				}
			})
			return err
		})
		return skipped, kit.SearchProblem(ctx, f.path, err, n.FoundErr)
	}}
}

// search searches the messages of one record, and its calls and their results if the query asks for tools.
func search(n *kit.Finder, r *record) error {
	key, at := short(r.uuid), r.time()
	text := adapters.Message{Key: key, Text: r.text(kit.Whole.Bytes()), At: at}
	switch string(agentfile.Text(r.typ)) {
	case "user":
		if text.Role = adapters.FromUser; r.isNotification() {
			text.Role = adapters.FromNote
		}
	case "assistant":
		text.Role = adapters.FromAgent
	case "tool_result":
	default:
		return nil
	}
	if text.Role != "" && text.Text != "" {
		if _, err := n.Add(&text); err != nil {
			return err
		}
	}
	if !n.Query.Tools {
		return nil
	}
	var err error
	i := 0
	r.parts(func(part []byte) {
		call, response := agentfile.Get(part, "functionCall"), agentfile.Get(part, "functionResponse")
		if err != nil || agentfile.Null(call) && agentfile.Null(response) {
			return
		}
		m := adapters.Message{Key: keyOf(key, i), Role: adapters.FromTool, Tool: short(agentfile.Get(call, "name")), State: adapters.ToolRunning,
			Text: argument(agentfile.Get(call, "args")) + "\n" + kit.Strings(agentfile.Get(call, "args")), At: at}
		if !agentfile.Null(response) {
			m.Tool, m.Text, m.State = short(agentfile.Get(response, "name")), kit.Strings(agentfile.Get(response, "response")), adapters.ToolDone
		}
		i++
		_, err = n.Add(&m)
	})
	return err
}
