package app

import (
	"iter"
	"slices"
	"time"

	"rollcall/adapters"
)

// LeftOut contains what a snapshot knows and does not show, because the user's settings leave the agents out. Decisions that must not depend on what is shown,
// such as whether a folder is in use, must include it: see Snapshot.Known.
type LeftOut struct {
	Agents   []adapters.Name
	Adapters []Health  // the health of these agents
	Sessions []Session // in the order of Sort
}

// Known yields what All yields, and then the sessions that the settings leave out.
func (s *Snapshot) Known() iter.Seq[*Session] {
	return func(yield func(*Session) bool) {
		for x := range s.All() {
			if !yield(x) {
				return
			}
		}
		yieldEach(s.LeftOut.Sessions, yield)
	}
}

// LeaveOut replaces the agents whose sessions are left out of the next snapshots and events. They are still asked, and what Rollcall launched stays shown. For
// each live session that is no longer shown, LeaveOut delivers an event with the status Unknown, so that listeners remove a notification that the session
// waits.
func (c *Core) LeaveOut(names []adapters.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Equal(names, c.leftOut) {
		return
	}
	c.mergeLocked()
	before := c.leftOut
	c.leftOut = slices.Clone(names)
	c.machines.leftOut = c.leftOut
	c.machines.merge()
	c.divideLocked()
	var evs []Event
	for i := range c.hidden {
		if s := &c.hidden[i]; s.Live() && !s.IsProcess() && !slices.Contains(before, s.Agent) {
			evs = append(evs, s.notShown(time.Now(), "the settings leave its agent out"))
		}
	}
	c.publishLocked()
	for e := range c.listeners {
		e.put(evs)
	}
}

// notShown returns the event for a session that is no longer shown although it may run on. why is the reason.
func (s *Session) notShown(now time.Time, why string) Event {
	after := *s
	after.Become(adapters.Unknown, why+"; before: ")
	after.Stale = nil
	after.Suspended = false
	return Event{Kind: Changed, At: now, Session: after, Before: *s}
}

// divideLocked divides the sessions that are known into those that are shown and the others.
func (c *Core) divideLocked() {
	c.own, c.hidden = divide(c.known, c.leftOut)
	if len(c.machines.hidden) > 0 {
		c.hidden = merge([][]Session{c.hidden, c.machines.hidden})
	}
	c.joined = joinOnce(c.own, c.machines.merged)
}

// divide returns the sessions that are shown, and those of the agents that are left out. What Rollcall launched is shown with the
// sub-agents below it.
func divide(all []Session, leftOut []adapters.Name) (shown, hidden []Session) {
	if len(leftOut) == 0 {
		return all, nil
	}
	parents, launched := map[SessionKey]string{}, map[SessionKey]bool{}
	for i := range all {
		s := &all[i]
		if slices.Contains(leftOut, s.Agent) {
			parents[s.Key()], launched[s.Key()] = s.Parent, s.Launch != nil
		}
	}
	isLaunched := func(k SessionKey) bool {
		for range len(parents) { // parents may form a cycle
			if launched[k] {
				return true
			}
			parent := parents[k]
			if parent == "" {
				return false
			}
			k.ID = parent
		}
		return false
	}
	shown = make([]Session, 0, len(all)-len(parents))
	for i := range all {
		if s := &all[i]; slices.Contains(leftOut, s.Agent) && !isLaunched(s.Key()) {
			hidden = append(hidden, *s)
		} else {
			shown = append(shown, *s)
		}
	}
	return shown, hidden
}

// shownEvents returns the events of sessions that are shown.
func (c *Core) shownEvents(evs []Event) []Event {
	if len(c.leftOut) == 0 {
		return evs
	}
	c.mergeLocked()
	out := make([]Event, 0, len(evs))
	for i := range evs {
		e := &evs[i]
		s := &e.Session
		if !slices.Contains(c.leftOut, s.Agent) || s.Launch != nil || e.Before.Launch != nil ||
			s.Parent != "" && (isParent(c.own, s) || isParent(c.machines.merged, s)) {
			out = append(out, *e)
		}
	}
	return out
}

func isParent(list []Session, of *Session) bool {
	return slices.ContainsFunc(list, func(x Session) bool { return x.Agent == of.Agent && x.ID == of.Parent })
}

// divideHealth moves the health of the agents that are left out from the list that is shown.
func (s *Snapshot) divideHealth(leftOut []adapters.Name) {
	if len(leftOut) == 0 {
		return
	}
	all := s.Adapters
	s.Adapters = nil
	for _, h := range all {
		if slices.Contains(leftOut, h.Name) {
			s.LeftOut.Agents = append(s.LeftOut.Agents, h.Name)
			s.LeftOut.Adapters = append(s.LeftOut.Adapters, h)
		} else {
			s.Adapters = append(s.Adapters, h)
		}
	}
}
