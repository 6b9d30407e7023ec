//go:build !headless

package desktop

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/notify"
	"rollcall/tray"
	"rollcall/tray/model"
)

// limitAccount returns the name of a home for a text about a limit; empty: it needs none.
func (p *parts) limitAccount(a *app.AgentLimits, home string) string {
	set := p.settings()
	return set.NameAccount(a.Agent, home, a.SeveralHomes())
}

// withLimits adds to the tray's options the rows of limits that are nearly used up. It follows the limits until ctx is done.
func (p *parts) withLimits(ctx context.Context, o tray.Options, n *notify.Notifier, a *attention, running *sync.WaitGroup) tray.Options {
	w := app.NewLimitWatch(p.agents)
	running.Go(func() { p.followLimits(ctx, w, n, a.redraw.Set) })
	o.Limits = func(now time.Time) []model.Row { return model.LimitRows(w.Last(), p.limitAccount, now) }
	return o
}

// followLimits keeps w current until ctx is done, and notifies the user of limits that reach a threshold of the settings.
func (p *parts) followLimits(ctx context.Context, w *app.LimitWatch, n *notify.Notifier, redraw func()) {
	t := thresholds{}
	w.Run(ctx, p.core, func() {
		redraw()
		set := p.settings()
		now := time.Now()
		for _, r := range t.reached(w.Last(), set.Notifications.LimitAt, now) {
			line := present.LimitLine(r.agent.Agent, present.Line(p.limitAccount(r.agent, r.limit.Home)), r.limit, now)
			title, reset, _ := strings.Cut(line, ", resets ")
			text := notify.Text{Title: title, Body: "Recorded at " + r.limit.At.Local().Format("15:04") + "."}
			if reset != "" {
				text.Body = "The window begins again at " + reset + ". " + text.Body
			}
			n.Say("limit "+title, text, "", nil)
		}
	})
}

// thresholds remembers the highest use of each limit's present window, so that each threshold is told once.
type thresholds struct {
	isRead bool // there was a call
	uses   map[limitKey]limitUse
}

type limitKey struct {
	agent      adapters.Name
	home, name string
	window     time.Duration
}

type limitUse struct {
	resets time.Time
	used   float64
}

type reachedLimit struct {
	agent *app.AgentLimits
	limit *adapters.Limit
}

// sameWindow is the most by which the recorded times of one reset differ.
const sameWindow = 10 * time.Minute

// reached returns the limits that have reached one of the thresholds, in per cent, since the last call. What the first call finds is not told: it may be hours
// old.
func (t *thresholds) reached(agents []app.AgentLimits, at []int, now time.Time) (list []reachedLimit) {
	first := !t.isRead
	t.isRead = true
	if t.uses == nil {
		t.uses = map[limitKey]limitUse{}
	}
	for i := range agents {
		for j := range agents[i].Limits {
			l := &agents[i].Limits[j]
			if l.Balance != "" || !l.Holds(now) {
				continue
			}
			key := limitKey{agents[i].Agent, l.Home, l.Name, l.Window}
			before, known := t.uses[key]
			if known && l.ResetsAt.Sub(before.resets) > sameWindow {
				before = limitUse{} // a new window
			}
			t.uses[key] = limitUse{l.ResetsAt, max(before.used, l.Used)}
			if !first && slices.ContainsFunc(at, func(percent int) bool { return before.used < float64(percent) && l.Used >= float64(percent) }) {
				list = append(list, reachedLimit{&agents[i], l})
			}
		}
	}
	return list
}
