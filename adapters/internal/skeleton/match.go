package skeleton

import (
	"cmp"
	"slices"
)

// Rank is how strong evidence is for which process has a session. What a process does now goes before what was true when it began.
type Rank int

// The ranks, the strongest first.
const (
	Holds      Rank = iota // it holds the session's file open, or locks it
	Registered             // a registry of the agent, or the file of its terminal, names the session
	Runs                   // a tool that it runs is the session's
	Named                  // its command line names the session
	Fits                   // folder, times or a title fit: this counts only where no other process can have the session, and the process no other one
)

// Evidence is one kind of what shows which process has a session. P are the processes of an adapter, S its sessions.
type Evidence[P, S comparable] struct {
	Rank  Rank
	Shows func(P, S) (how string) // empty: it does not
	// Pick returns those that a process has of several sessions that no other process can have, for Fits. Nil: it has none of several.
	Pick func(P, []S) []S
}

// Match finds the process of each session by the strongest evidence that there is: one process, one session, or it is not known. isFree reports whether a process
// can still have a session, whatever shows it.
func Match[P, S comparable](processes []P, sessions []S, isFree func(P, S) bool, assign func(p P, s S, how string), all ...Evidence[P, S]) {
	slices.SortStableFunc(all, func(a, b Evidence[P, S]) int { return cmp.Compare(a.Rank, b.Rank) })
	fits := 0
	for _, e := range all {
		if e.Rank == Fits {
			break
		}
		fits++
		for _, p := range processes {
			for _, s := range sessions {
				if how := e.Shows(p, s); how != "" && isFree(p, s) {
					assign(p, s, how)
				}
			}
		}
	}
	for slices.ContainsFunc(all[fits:], func(e Evidence[P, S]) bool { return e.fit(processes, sessions, isFree, assign) }) {
		continue // what is left may fit one process alone now
	}
}

// fit assigns the sessions that fit one process alone, and reports whether there were any.
func (e *Evidence[P, S]) fit(processes []P, sessions []S, isFree func(P, S) bool, assign func(P, S, string)) (found bool) {
	only := map[P][]S{}
	for _, s := range sessions {
		by := slices.DeleteFunc(slices.Clone(processes), func(p P) bool { return !isFree(p, s) || e.Shows(p, s) == "" })
		if len(by) == 1 {
			only[by[0]] = append(only[by[0]], s)
		}
	}
	for p, list := range only {
		if e.Pick != nil {
			list = e.Pick(p, list)
		} else if len(list) > 1 {
			continue
		}
		for _, s := range list {
			assign(p, s, e.Shows(p, s))
			found = true
		}
	}
	return found
}
