package grok

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Conversations implements adapters.Searcher.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, func() []*beside {
		d.list()
		return d.besides("updates.jsonl")
	}, conversation)
}

func conversation(f *beside) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(ctx context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		n.Hit.Session = f.of.id
		var about summary
		if data, err := kit.ReadWhole(ctx, f.of.path("summary.json")); err == nil && about.Line(data) == nil { // a hit is one without its folder, too
			n.Hit.CWD = about.cwd
		}
		calls := map[string]adapters.Message{} // by the id of the call
		var marks [][]byte
		if n.Query.Tools { // the result of a tool names its call alone
			marks = [][]byte{[]byte(`"tool_call"`)}
		}
		return marks, func(line []byte) error { return searchLine(n, calls, line) }
	})
}

// searchLine searches one line. A call and its result are one message.
func searchLine(n *kit.Finder, calls map[string]adapters.Message, line []byte) (err error) {
	_, _ = agentfile.Records(line, parseUpdate, func(u *update) {
		m, is := message(u, kit.Whole)
		switch string(agentfile.Text(u.typ)) {
		case "tool_call":
			calls[kit.Short(u.get("toolCallId"))] = m
			m.Text = kit.Strings(u.get("rawInput"))
		case "tool_call_update":
			if m, is = calls[kit.Short(u.get("toolCallId"))]; is {
				m.Text = kit.Strings(u.get("content"))
			}
		}
		if is && err == nil {
			_, err = n.Add(&m)
		}
	})
	return err
}
