package gemini

import (
	"cmp"
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Conversations lists the files of sessions to search, and of sub-agents that work: those that are over are no sessions of their own. A hit has the folder of the session.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, d.searched, d.conversation)
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
		d.read()
		d.match()
	}
	for _, s := range d.subs {
		if d.isOpen(s) && s.doubt == "" {
			list = append(list, s.file)
		}
	}
	return list
}

func (d *discovery) conversation(f *file) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(ctx context.Context, in *kit.Finder) ([][]byte, func([]byte) error) {
		n := &hits{Finder: in}
		n.Hit.CWD = f.project.cwd
		return marks, func(line []byte) error {
			if n.Hit.Session == "" {
				read, err := d.transcripts.Read(ctx, f.Path, f.Info, false)
				if err != nil || !read.known {
					return err
				}
				n.Hit.Session = cmp.Or(read.id, d.idOf(f))
			}
			return n.line(line)
		}
	})
}

// hits finds hits in the messages of one session.
type hits struct {
	*kit.Finder
	rewriting bool // the history is being written again
}

// The lines between which 0.61.0 writes the history again.
var marks = [][]byte{[]byte(`"Request cancelled."`), []byte(`{"$set":{"messages"`)}

func (n *hits) line(line []byte) (err error) {
	_, _ = records(line, func(r *record) { // what is no record has no message
		n.Hit.Session = cmp.Or(n.Hit.Session, kit.Short(r.session))
		n.rewriting = r.rewrites() || n.rewriting && (r.set == nil || r.messages == nil)
		if !n.rewriting && n.Hit.Session != "" && err == nil {
			err = n.AddItems(r.items(kit.Whole))
		}
	})
	return err
}
