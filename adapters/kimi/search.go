package kimi

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Conversations lists the files of sessions to search, and of sub-agents that work: those that are over are no sessions of their own.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, d.searched, d.conversation)
}

// searched returns the files that are searched.
func (d *discovery) searched() (list []*file) {
	d.list()
	for _, f := range d.files {
		if f.agent == mainAgent {
			list = append(list, f)
		}
	}
	if len(d.processes) > 0 {
		d.Query.Since = d.Now // of the others nothing has to be read
		d.read()
		d.match()
	}
	for _, s := range d.sessions {
		for _, a := range s.agents {
			if s.isAtWork(a) {
				list = append(list, a.file)
			}
		}
	}
	return list
}

func (d *discovery) conversation(f *file) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(ctx context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		read, err := d.transcripts.Read(ctx, f.Path, f.Info, false)
		if err == nil {
			n.Hit.CWD = read.cwd
		}
		n.Hit.Session = f.id()
		return nil, func(line []byte) error { return n.AddItems(items(line, kit.Whole)) }
	})
}
