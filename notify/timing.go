package notify

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

const (
	// lookLimit is the longest time for reading the user's state. If the desktop does not answer in time, the user is notified.
	lookLimit = time.Second
	// quietPoll is the interval at which the desktop's own state is read while the desktop withholds notifications: not
	// every desktop reports the end of that state.
	quietPoll = 10 * time.Second
)

// ownQuiet returns the answer of Options.Quiet.
func (n *Notifier) ownQuiet() (quiet bool, until time.Time) {
	if n.opts.Quiet == nil {
		return false, time.Time{}
	}
	return n.opts.Quiet()
}

// isQuiet reports whether the user must not be disturbed.
func (n *Notifier) isQuiet(ctx context.Context) bool {
	if quiet, _ := n.ownQuiet(); quiet {
		return true
	}
	// A service that hangs is not called again: that would delay every event.
	return n.opts.DesktopIsQuiet != nil && !errors.Is(n.LastError(), ErrHung) && n.opts.DesktopIsQuiet(ctx)
}

// addCodes sets how the processes of launches ended of which the agent records no outcome.
func (n *Notifier) addCodes(ctx context.Context, events []app.Event) {
	if n.opts.Launch == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	for i := range events {
		ev := &events[i]
		s := ev.Session
		s.Launch = cmp.Or(s.Launch, ev.Before.Launch)
		if ev.Kind == app.Ended && s.Outcome == "" && s.Launch != nil {
			ev.Session.Launch = cmp.Or(n.opts.Launch(ctx, &s), s.Launch)
		}
	}
}

// look reads the user's state for these events. It reads nothing if no event can have a notification.
func (n *Notifier) look(ctx context.Context, events []app.Event) look {
	l := look{now: time.Now()}
	var sessions []*app.Session
	for i := range events {
		if ev := &events[i]; mayTell(ev) {
			sessions = append(sessions, seenSession(ev))
		}
	}
	if len(sessions) == 0 {
		return l
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	l.quiet = n.isQuiet(ctx)
	if l.quiet {
		return l
	}
	n.awaitAsked(ctx, sessions)
	l.focused, l.acted = n.focused(ctx, sessions), map[string]bool{}
	for _, s := range sessions {
		l.acted[s.ID] = n.opts.Acted != nil && n.opts.Acted(s)
	}
	return l
}

// focused returns the ids of those sessions that the user looks at.
func (n *Notifier) focused(ctx context.Context, sessions []*app.Session) map[string]bool {
	focused := map[string]bool{}
	for _, s := range sessions {
		if n.opts.HasFocus != nil && n.opts.HasFocus(ctx, s) {
			focused[s.ID] = true
		}
	}
	return focused
}

// waiting returns the sessions that the next tick may notify of.
func (n *Notifier) waiting() (sessions []*app.Session) {
	if n.opts.HasFocus == nil {
		return nil
	}
	n.policyMu.Lock()
	defer n.policyMu.Unlock()
	for _, w := range n.policy.waits {
		s := w.session
		sessions = append(sessions, &s)
	}
	if n.wasQuiet && n.opts.Sessions != nil {
		for s := range n.opts.Sessions.Snapshot().All() {
			if s.Status == adapters.Waiting && n.policy.waits[waitKey(s)] == nil {
				sessions = append(sessions, s)
			}
		}
	}
	return sessions
}

// awaitAsked waits until it is known what the sessions ask, for at most half the time that a look may take.
func (n *Notifier) awaitAsked(ctx context.Context, sessions []*app.Session) {
	if n.opts.Board == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit/2)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range sessions {
		if s.Status == adapters.Waiting {
			all.Go(func() { n.opts.Board.Await(ctx, s) })
		}
	}
	all.Wait()
}

// mayTell reports whether a notification of ev is possible.
func mayTell(ev *app.Event) bool {
	s := &ev.Session
	switch {
	case ev.Kind == app.Ended, s.Status == adapters.Waiting:
		return true
	}
	return ev.Kind == app.Changed && ev.Before.InTurn() && (s.Status == adapters.Idle || s.Status == adapters.Stopped)
}

// seenSession returns the session of ev with the process that it has, or had before its end.
func seenSession(ev *app.Event) *app.Session {
	s := ev.Session
	s.Process = cmp.Or(s.Process, ev.Process, ev.Before.Process)
	return &s
}

// handle calls decide with the user's state, queues the orders that it returns, and then carries out what policy has recorded in unsaid and absent.
func (n *Notifier) handle(l look, decide func(look) []order) {
	n.policyMu.Lock()
	n.wasQuiet = n.wasQuiet || l.quiet
	n.box.put(decide(l)...)
	unsaid, absent := n.policy.unsaid, n.policy.absent
	n.policy.unsaid, n.policy.absent = nil, nil
	n.policyMu.Unlock()
	if len(unsaid) > 0 { // recorded as reported, since the next start of Rollcall would notify of them
		n.handedOver(order{ended: unsaid}, false)
	}
	if n.opts.Away != nil {
		for _, s := range absent {
			n.callbacks.Go(func() { n.opts.Away(s) })
		}
	}
	n.wake.Set()
}

// keepTime calls tick whenever a notification or reminder is due, until ctx is done.
func (n *Notifier) keepTime(ctx context.Context) {
	changed := n.opts.Changed
	if quiet, _ := n.ownQuiet(); quiet { // an earlier process may have withheld notifications
		n.policyMu.Lock()
		n.wasQuiet = true
		n.policyMu.Unlock()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(n.untilNext())
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
			continue // the next notification may be due earlier
		case _, ok := <-changed:
			if !ok {
				changed = nil
			}
		case <-timer.C:
		}
		n.tick(ctx)
	}
}

func (n *Notifier) tick(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	l := look{now: time.Now(), quiet: n.isQuiet(ctx)}
	if !l.quiet {
		l.focused = n.focused(ctx, n.waiting())
	}
	n.handle(l, func(l look) []order {
		if n.wasQuiet && !l.quiet {
			n.wasQuiet = false
			if n.opts.Sessions != nil {
				n.policy.withhold(n.opts.Sessions.Snapshot().Sessions(), l.now)
			}
			n.box.put(n.said...)
			n.said = nil
		}
		return n.policy.tick(&l)
	})
}

// untilNext returns the time until tick must be called.
func (n *Notifier) untilNext() time.Duration {
	quiet, until := n.ownQuiet()
	n.policyMu.Lock()
	defer n.policyMu.Unlock()
	wait := time.Hour
	if at := n.policy.next(); !at.IsZero() && !quiet {
		wait = min(wait, time.Until(at))
	}
	switch {
	case quiet && !until.IsZero():
		wait = min(wait, time.Until(until), time.Minute) // timers do not run while the machine is suspended
	case n.wasQuiet && !quiet: // the desktop withholds notifications, or did
		wait = min(wait, quietPoll)
		if at := n.policy.next(); !at.IsZero() && time.Until(at) <= 0 {
			wait = quietPoll
		}
	}
	return max(wait, time.Millisecond)
}
