package ui

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// cleaner returns a Cleaner for all files that may be removed. The files of sessions that are live now are not among them.
func (u *UI) cleaner(ctx context.Context) (*cleanup.Cleaner, error) {
	snap := u.core.Refresh(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var sources []cleanup.Source
	if l := u.options.Launches; l != nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	return cleanup.New(u.getenv, u.options.Table, snap, sources...)
}

// getenv returns a variable of the environment of launched agents.
func (u *UI) getenv(name string) (value string) {
	for _, e := range u.environ() {
		if n, v, _ := strings.Cut(e, "="); n == name {
			value = v
		}
	}
	return value
}

// leftovers are the files that may be removed, and what kept others from being found.
type leftovers struct {
	items    []cleanup.Item
	problems error
}

// showCleanup shows the files that may be removed, and removes those that stay checked.
func (u *UI) showCleanup() {
	s := u.host.NewSheet("Clean up", 680)
	widgets.Load(s, "Looking for files that can be removed…", func(ctx context.Context) (l leftovers, _ error) {
		cleaner, err := u.cleaner(ctx)
		if err == nil {
			l.items, l.problems = cleaner.Scan(ctx)
		}
		return l, err
	}, func(l leftovers) { u.offerCleanup(s, l) })
}

// maxLeftovers is the largest number of files that are offered at once.
const maxLeftovers = 200

func (u *UI) offerCleanup(s *widgets.Sheet, l leftovers) {
	var body []fyne.CanvasObject
	problems := adapters.Problems(l.problems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		body = append(body, widgets.Warning("Skipped: "+present.Error(p)))
	}
	if len(l.items) == 0 {
		s.ShowResult(append(body, widgets.Success("There is nothing to remove: no files of past launches, and none of agentctl.")))
		return
	}
	c := s.NewChecklist("removing…", "not removed: ")
	c.Label = func(checked []*widgets.CheckItem) string {
		size := int64(0)
		for _, i := range checked {
			size += l.items[i.Index].Size
		}
		return "Remove " + english.Plural(len(checked), "file", "files") + ", " + present.Size(size)
	}
	// The sessions are read again before the first removal: one may have begun since the files were listed.
	cleaner := sync.OnceValues(func() (*cleanup.Cleaner, error) { return u.cleaner(u.ctx) })
	c.Act = func(ctx context.Context, i *widgets.CheckItem) (string, error) {
		now, err := cleaner()
		if err != nil {
			return "", err
		}
		r := now.Remove(ctx, l.items[i.Index:i.Index+1])[0]
		if r.Where == "" {
			return "deleted, because there is no trash", r.Err
		}
		return "moved to " + present.Short(r.Where), r.Err
	}
	for _, it := range l.items[:min(len(l.items), maxLeftovers)] {
		c.Add(present.CutStart(present.Short(it.Path), 80), present.Short(it.Kind)+", "+present.Size(it.Size)+": "+present.Short(it.Why), widget.LowImportance, true, true)
	}
	body = append(body, widgets.Hint("These files belong to sessions and launches that no longer exist. They are moved to the trash, or deleted where there is none."))
	if more := len(l.items) - maxLeftovers; more > 0 {
		body = append(body, widgets.Hint(fmt.Sprintf("%s more can be removed afterwards.", english.Plural(more, "file", "files"))))
	}
	c.Ask(body...)
}
