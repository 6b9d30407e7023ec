package grok

import (
	"context"
	"time"

	"rollcall/adapters"
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
		var marks [][]byte
		if n.Query.Tools { // the result of a tool names its call alone
			marks = [][]byte{[]byte(`"tool_call"`)}
		}
		return marks, func(line []byte) error { return n.AddItems(items(line, kit.Whole)) }
	})
}
