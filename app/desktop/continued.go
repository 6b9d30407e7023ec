//go:build !headless

package desktop

import (
	"context"
	"strings"

	"rollcall/app/owned/fuse"
	"rollcall/app/present"
	"rollcall/notify"
)

// tellContinued notifies the user of each session that the keeper continues, or does not continue, from now on, until ctx is done.
func (p *parts) tellContinued(ctx context.Context, say func(key string, text notify.Text, session string, taken func())) error {
	changes, err := p.fuses.Changes(ctx)
	if err != nil {
		return err
	}
	known, err := p.fuses.List()
	for {
		if err != nil {
			p.log.Warn("timers can't be read", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		}
		var now []fuse.Fuse
		now, err = p.fuses.List()
		for _, x := range continued(known, now) {
			say("continued "+x.FileName(), continuedText(&x), x.Continue.Session, nil)
		}
		if err == nil {
			known = now
		}
	}
}

// continued returns the timers of sessions that have finished between two lists.
func continued(before, after []fuse.Fuse) (out []fuse.Fuse) {
	told := map[string]fuse.Fuse{}
	for _, x := range before {
		told[x.FileName()] = x
	}
	for _, x := range after {
		if was := told[x.FileName()]; x.Continue != nil && x.Finished() && !was.FinishedAt.Equal(x.FinishedAt) {
			out = append(out, x)
		}
	}
	return out
}

func continuedText(x *fuse.Fuse) notify.Text {
	text := notify.Text{Title: present.AgentName(x.Continue.Agent) + " goes on in " + present.Project(x.Path), Body: present.Line(strings.Join(x.Results, "; "))}
	if x.Outcome == fuse.Failed {
		text.Title = present.AgentName(x.Continue.Agent) + " was not continued in " + present.Project(x.Path)
	}
	return text
}
