package kimi

import (
	"context"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// Conversations lists the files of sessions to search, and of sub-agents that work: those that are over are no sessions of their own.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.homes.Absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	var list []adapters.Conversation
	for _, f := range d.files {
		if f.agent == mainAgent && !f.Info.ModTime().Before(since) {
			list = append(list, d.conversation(f, f.of.id))
		}
	}
	if len(d.processes) > 0 {
		d.query.Since = d.now // of the others nothing has to be read
		d.read()
		d.match()
	}
	for _, s := range d.sessions {
		for _, a := range s.agents {
			if s.isAtWork(a) && !a.Info.ModTime().Before(since) {
				list = append(list, d.conversation(a.file, a.id()))
			}
		}
	}
	_, err := d.answer.Result(ctx, string(Name))
	return list, err
}

func (d *discovery) conversation(f *file, id string) adapters.Conversation {
	return kit.FileSearch(f.Path, f.Info.ModTime(), func(ctx context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		read, err := d.transcripts.Read(ctx, f.Path, f.Info, false)
		if err == nil {
			n.Hit.CWD = read.cwd
		}
		n.Hit.Session = id
		return nil, func(line []byte) (err error) {
			_, _ = records(line, func(r *record) { // what is no record has no message
				if err == nil {
					err = search(n, r)
				}
			})
			return err
		}
	})
}

// search searches the message of one record, and its call and the result.
func search(n *kit.Finder, r *record) error {
	m := r.message(kit.Whole)
	if m.Role == adapters.FromTool {
		m.Text = strings.TrimSpace(m.Text + "\n" + kit.Strings(m.args) + kit.Strings(m.result))
	}
	if m.Role == "" {
		return nil
	}
	_, err := n.Add(&m.Message)
	return err
}
