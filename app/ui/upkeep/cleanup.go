package upkeep

import (
	"context"
	"fmt"
	"sync"

	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// cleaner returns a Cleaner for all files that may be removed. The files of sessions that are live now are not among them.
func (p *Page) cleaner(ctx context.Context) (*cleanup.Cleaner, error) {
	snap := p.window.Core.Refresh(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var sources []cleanup.Source
	if l := p.window.Launches; l != nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	return cleanup.New(func(name string) string { return launch.Getenv(p.window.Environ(), name) }, p.window.Table, snap, sources...)
}

// maxLeftovers is the largest number of files that are offered at once.
const maxLeftovers = 200

// CleanUp shows the files that may be removed, and removes those that stay checked.
func (p *Page) CleanUp() { p.cleanUp().Open(p.window.Host, "Clean up", 680) }

func (p *Page) cleanUp() *widgets.Checklist[cleanup.Item] {
	// The sessions are read again before the first removal: one may have begun since the files were listed.
	again := sync.OnceValues(func() (*cleanup.Cleaner, error) { return p.cleaner(p.window.Context) })
	c := &widgets.Checklist[cleanup.Item]{
		Reading: "Looking for files that can be removed…", Doing: "removing…", Failed: "not removed: ",
		None:  widgets.Success("There is nothing to remove: no files of past launches, and none of agentctl."),
		Intro: []string{"These files belong to sessions and launches that no longer exist. They are moved to the trash, or deleted where there is none."},
		Row: func(i cleanup.Item) widgets.CheckRow {
			return widgets.CheckRow{Text: present.CutStart(present.Short(i.Path), 80), State: present.Short(i.Kind) + ", " + present.Size(i.Size) + ": " + present.Short(i.Why), Checked: true}
		},
		Label: func(checked []cleanup.Item) string {
			size := int64(0)
			for _, i := range checked {
				size += i.Size
			}
			return "Remove " + english.Plural(len(checked), "file", "files") + ", " + present.Size(size)
		},
		Act: func(ctx context.Context, i cleanup.Item) (string, error) {
			now, err := again()
			if err != nil {
				return "", err
			}
			r := now.Remove(ctx, []cleanup.Item{i})[0]
			if r.Where == "" {
				return "deleted, because there is no trash", r.Err
			}
			return "moved to " + present.Short(r.Where), r.Err
		},
	}
	c.Read = func(ctx context.Context) (items []cleanup.Item, problems []string, err error) {
		cleaner, err := p.cleaner(ctx)
		if err != nil {
			return nil, nil, err
		}
		items, err = cleaner.Scan(ctx)
		for _, e := range adapters.Problems(err) {
			problems = append(problems, "Skipped: "+present.Error(e))
		}
		if more := len(items) - maxLeftovers; more > 0 {
			items = items[:maxLeftovers]
			c.Intro = append(c.Intro, fmt.Sprintf("%s more can be removed afterwards.", english.Plural(more, "file", "files")))
		}
		return items, problems, nil
	}
	return c
}
