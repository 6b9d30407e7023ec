package omp

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pistore"
)

// Conversations lists the files of sessions to search. Those of sub-agents are no sessions of their own once they are over.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.roots.Absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	var list []adapters.Conversation
	for _, f := range d.files {
		if f.parent == "" && !f.Info.ModTime().Before(since) {
			list = append(list, conversation(f))
		}
	}
	_, err := d.answer.Result(ctx, string(Name))
	return list, err
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
