package qwen

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Conversations lists the files of sessions to search, and of sub-agents that run: those that are over are no sessions of their own.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, d.searched, conversation)
}

// searched returns the files that are searched.
func (d *discovery) searched() (list []*file) {
	d.list()
	for _, f := range d.files {
		if f.parent == "" {
			list = append(list, f)
		}
	}
	if len(d.processes) > 0 {
		d.Query.Since = d.Now // of the others nothing has to be read
		d.readEntries()
		d.read()
		d.match()
	}
	for _, s := range d.subs {
		if s.runs() {
			list = append(list, s.file)
		}
	}
	return list
}

func conversation(f *file) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		n.Hit.Session = f.id
		return nil, func(line []byte) (err error) {
			_, _ = agentfile.Records(line, parse, func(r *record) { // a line that is no record has no message
				n.Hit.CWD = kit.Short(r.cwd)
				if err == nil {
					err = n.AddItems(r.messages(kit.Whole))
				}
			})
			return err
		}
	})
}
