package tray_test

import (
	"context"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// gone returns the end of a session.
func gone(id, project, title string, outcome adapters.Outcome, ago time.Duration) app.Event {
	s := idle(id, project, title, ago)
	s.Status, s.Outcome = adapters.Stopped, outcome
	return app.Event{Kind: app.Ended, At: time.Now().Add(-ago), Session: s}
}

// TestQuietAndEnded: the menu lists what ended last, and turns do not disturb on and off.
func TestQuietAndEnded(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	tray := startTray(t, snap(working("a", "shop", "Fix", time.Hour)), long, b.env(), quietVariable+"=1")
	m := p.menu()
	click := func(label string) { m.must("Event", m.id(label), "clicked", dbus.MakeVariant(""), uint32(0)) }
	shows := func(want ...string) {
		t.Helper()
		p.until("the menu", func() bool { return slices.Equal(m.labels(), want) })
		if diff := cmp.Diff(want, m.labels()); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	}
	const work, open, needs, launch, hour, day, set = "◐ shop · Claude Code · Fix · 1 h", "Open Rollcall", "Needs you", "New agent…", "Do not disturb for 1 hour", "Do not disturb until tomorrow", "Settings…"
	shows(work, "—", open, needs, launch, "—", hour, day, set, "—", "Quit")

	tray.tell(order{Ended: []app.Event{gone("id-e", "api", "Add paging", adapters.Completed, time.Minute), gone("id-f", "site", "", adapters.Died, time.Hour)}})
	shows(work, "Ended", "■ api · Claude Code · turn complete: Add paging · 1 m", "■ site · Claude Code · died in mid-turn · 1 h", "—", open, needs, launch, "—", hour, day, set, "—", "Quit")
	click("turn complete")
	if r := tray.wait("open", 1); r.Arg != "id-e" {
		t.Errorf("opened %q", r.Arg)
	}
	click(day)
	if r := tray.wait("quiet", 1); r.Arg != "08:00" {
		t.Errorf("quiet until %q", r.Arg)
	}
	p.until("the row that ends it", func() bool {
		return slices.ContainsFunc(m.labels(), func(l string) bool { return len(l) > 20 && l[:20] == "End do not disturb (" })
	})
	click("End do not disturb")
	tray.wait("quiet", 2)
	p.until("the rows that turn it on", func() bool { return slices.Contains(m.labels(), hour) })
	click(hour)
	tray.wait("quiet", 3)
}

// TestAttentionMenu makes pictures of the menu with everything in it.
func TestAttentionMenu(t *testing.T) {
	for _, dark := range []bool{false, true} {
		name := desktoptest.XfcePanel + "-light-attention"
		if dark {
			name = desktoptest.XfcePanel + "-dark-attention"
		}
		t.Run(name, func(t *testing.T) {
			box := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Dark: dark, Size: image.Pt(900, 760)})
			d := &desktop{Desktop: box, t: t, said: overhear(t, box), name: name,
				tray: startTray(t, sample(), long, append(box.Env(), quietVariable+"=1", limitVariable+"=1")...)}
			d.tray.tell(order{Ended: []app.Event{gone("e", "api", "Add paging", adapters.Completed, time.Minute),
				gone("f", "site", "Deploy", adapters.Died, time.Hour), gone("g", "lab", "", "", 3*time.Hour)}})
			d.icon()
			d.tray.wait("shown", 1)
			d.tray.tell(order{Answer: sample()})
			d.open()
			eventually.True(t, "the limit", func() bool {
				return slices.ContainsFunc(d.said.labels(), func(l string) bool { return strings.HasPrefix(l, "Codex: 92 % of 5 h, resets ") })
			})
			d.drawn("menu")
			must.Do(t, d.Key(context.Background(), "Escape"))
		})
	}
}
