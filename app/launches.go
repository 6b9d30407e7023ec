package app

import (
	"slices"
	"strings"

	"rollcall/adapters"
)

// addLaunches adds to an answer the launches that the agent does not list.
func (c *Core) addLaunches(s *source, a *answer) {
	if c.cfg.Launches == nil {
		return
	}
	more, of := c.cfg.Launches.Complete(s.adapter.Name(), withoutProcesses(a.Sessions))
	a.launch = of
	var open map[string]bool
	a.Sessions, open = mergeProcesses(a.Sessions, more, of)
	more = slices.DeleteFunc(more, func(m adapters.Session) bool {
		// A session that the agent could not read stays as it was shown, and is stale.
		return !a.asked(m.ID) || !a.complete() && s.shows(m.ID)
	})
	a.Sessions, a.added = slices.Concat(a.Sessions, more), len(more)
	if len(more) == 0 {
		return
	}
	a.launch = func(x *adapters.Session) *Launch {
		l := of(x)
		if l != nil && slices.ContainsFunc(more, func(m adapters.Session) bool { return m.ID == x.ID }) {
			l.Unlisted, l.Open = true, open[x.ID]
		}
		return l
	}
}

// endedLaunches returns the sessions of launches that are over and that the answer does not contain, although the ids of
// their sessions are known. The agent may have left them out of an answer about all sessions because they are older than the
// question asked for.
func (a *answer) endedLaunches() (ids []string) {
	if a.IDs != nil || !a.complete() {
		return nil
	}
	for i := len(a.Sessions) - a.added; i < len(a.Sessions); i++ {
		x := &a.Sessions[i]
		if l := a.launch(x); !x.Live() && l != nil && l.ID != x.ID {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// addLaunchRecords sets the launch of each row that came from one.
func (a *answer) addLaunchRecords(rows []Session) {
	if a.launch == nil {
		return
	}
	for i := range rows {
		rows[i].Launch = a.launch(&rows[i].Session)
	}
}

// addLaunchesOfUnlisted sets the launch of sessions that are no longer listed, and about to be reported as over. When these
// sessions were last listed, the records could not be read, or contained only a process.
func (a *answer) addLaunchesOfUnlisted(rows []Session, lifetimes map[string]*lifetime) {
	if a.launch == nil {
		return
	}
	for id, l := range lifetimes {
		if l.session.Launch == nil && !slices.ContainsFunc(rows, func(x Session) bool { return x.ID == id }) {
			l.session.Launch = a.launch(&l.session.Session)
		}
	}
}

// shows reports whether a session is shown that its agent has listed.
func (s *source) shows(id string) bool {
	return slices.ContainsFunc(s.shown, func(x Session) bool {
		return x.ID == id && (x.Launch == nil || !x.Launch.Unlisted)
	})
}

// addNamed adds to the ids of an agent's sessions those of launches that the agent does
// not list and that begin with prefix.
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

// withoutProcesses returns the sessions of an answer, without the rows of processes that
// have no session.
func withoutProcesses(list []adapters.Session) []adapters.Session {
	if !slices.ContainsFunc(list, isProcess) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), isProcess)
}

func isProcess(x adapters.Session) bool { return x.IsProcess() }

// mergeProcesses merges the row of a launch that its agent does not list with the row of
// that launch's process. The merged row has the launch's id, so that its end is reported
// as that of any other launch. It has the agent's own process, where the launch may know
// only a wrapper's, and the process's status unless the launch is starting. It returns
// the answer without these processes, and the ids of the merged rows.
func mergeProcesses(listed, more []adapters.Session, of func(*adapters.Session) *Launch) (rest []adapters.Session, open map[string]bool) {
	if len(more) == 0 || !slices.ContainsFunc(listed, isProcess) {
		return listed, nil
	}
	open = map[string]bool{}
	rows := map[string]*adapters.Session{}
	for i := range more {
		if l := of(&more[i]); l != nil && more[i].Live() {
			rows[l.ID] = &more[i]
		}
	}
	rest = slices.DeleteFunc(slices.Clone(listed), func(x adapters.Session) bool {
		if !x.IsProcess() {
			return false
		}
		l := of(&x)
		if l == nil || rows[l.ID] == nil {
			return false
		}
		row := rows[l.ID]
		row.Process = x.Process
		if d, _ := adapters.Describe(x.Agent); row.Status == adapters.Unknown || d.Unread { // nothing else ever says what it does
			row.State = x.State
		}
		open[row.ID] = true
		return true
	})
	return rest, open
}
