package app

import (
	"slices"
	"strings"

	"rollcall/adapters"
)

// addLaunches adds to an answer what runs by our own records alone.
func (c *Core) addLaunches(s *source, a *answer) {
	if c.cfg.Launches == nil {
		return
	}
	more, of := c.cfg.Launches.Complete(s.adapter.Name(), a.Sessions)
	a.launch = of
	more = slices.DeleteFunc(more, func(m adapters.Session) bool {
		// One that an agent could not answer stays as it was shown, and is stale.
		return !a.asked(m.ID) || !a.complete() && s.shows(m.ID)
	})
	a.Sessions, a.added = slices.Concat(a.Sessions, more), len(more)
	if len(more) == 0 {
		return
	}
	a.launch = func(x *adapters.Session) *Launch {
		l := of(x)
		if l != nil && slices.ContainsFunc(more, func(m adapters.Session) bool { return m.ID == x.ID }) {
			l.Unlisted = true
		}
		return l
	}
}

// name tells of each row which launch it came from.
func (a *answer) name(rows []Session) {
	if a.launch == nil {
		return
	}
	for i := range rows {
		rows[i].Launch = a.launch(&rows[i].Session)
	}
}

// shows says whether a session is shown, as its agent listed it.
func (s *source) shows(id string) bool {
	return slices.ContainsFunc(s.shown, func(x Session) bool {
		return x.ID == id && (x.Launch == nil || !x.Launch.Unlisted)
	})
}

// addNamed adds to the ids of an agent's sessions those that begin so and are known
// by our own records alone.
func (c *Core) addNamed(agent adapters.Name, ids []string, prefix string) []string {
	if c.cfg.Launches == nil {
		return ids
	}
	rows, _ := c.cfg.Launches.Complete(agent, nil)
	for i := range rows {
		if id := rows[i].ID; strings.HasPrefix(id, prefix) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
