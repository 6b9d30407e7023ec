package omp

import (
	"context"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pistore"
	"rollcall/adapters/internal/skeleton"
)

// Conversations lists the files of sessions to search. Those of sub-agents are no sessions of their own once they are over.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, func() []*file {
		d.list()
		return slices.DeleteFunc(d.files, func(f *file) bool { return f.parent != "" })
	}, conversation)
}

// header is a part of the line that begins a session.
var header = [][]byte{[]byte(`"type":"session"`)}

func conversation(f *file) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		var head facts
		return header, func(line []byte) error {
			if !head.known {
				_ = head.Line(line) // what is no header is none
				n.Hit.Session, n.Hit.CWD = head.id, head.cwd
				return nil
			}
			return n.AddItems(pistore.Items(line, kit.Whole))
		}
	})
}
