package app

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
)

// Order contains the statuses in the order of every list of sessions: those that need the
// user first. The window groups by it, with a sub-agent that needs the user among its
// parent's family; the command line and the tray list sessions as Sort puts them.
var Order = [...]adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Unknown, adapters.Stopped}

// Rank returns the place of a status in Order. A status that this version does not
// know ranks as unknown.
func Rank(s adapters.Status) int {
	if i := slices.Index(Order[:], s); i >= 0 {
		return i
	}
	return Rank(adapters.Unknown)
}

// Sort sorts sessions by Rank; within a rank those that the user pinned come first, then the newest activity, and of those that wait what waits longest. Ties are
// broken by agent and id, so the order is always the same.
func Sort(s []Session) {
	slices.SortFunc(s, func(a, b Session) int { return compareSessions(&a, &b) })
}

// CompareActivity compares two sessions with the same status by their last activity, a and b, in the order of Sort. An unknown time comes last.
func CompareActivity(s adapters.Status, a, b time.Time) int {
	if s != adapters.Waiting || a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

func compareSessions(a, b *Session) int {
	if c := cmp.Compare(Rank(a.Status), Rank(b.Status)); c != 0 {
		return c
	}
	if a.Pinned != b.Pinned {
		return ifPinned(a)
	}
	if c := CompareActivity(a.Status, a.LastActivityAt, b.LastActivityAt); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
}

// ifPinned returns the result of comparing s to a session that is pinned if s is not.
func ifPinned(s *Session) int {
	if s.Pinned {
		return -1
	}
	return 1
}

// sortSessions sorts pointers instead of the large values, then copies once.
func sortSessions(s []Session) []Session {
	order := make([]*Session, len(s))
	for i := range s {
		order[i] = &s[i]
	}
	slices.SortFunc(order, compareSessions)
	out := make([]Session, len(s))
	for i, p := range order {
		out[i] = *p
	}
	return out
}

// merge joins sorted lists into one sorted list.
func merge(lists [][]Session) []Session {
	total, last := 0, -1
	for i, l := range lists {
		if len(l) > 0 {
			total, last = total+len(l), i
		}
	}
	if total == 0 {
		return nil
	}
	if total == len(lists[last]) {
		return lists[last]
	}
	out := make([]Session, 0, total)
	at := make([]int, len(lists))
	for len(out) < total {
		best := -1
		for i, l := range lists {
			if at[i] < len(l) && (best < 0 || compareSessions(&l[at[i]], &lists[best][at[best]]) < 0) {
				best = i
			}
		}
		out = append(out, lists[best][at[best]])
		at[best]++
	}
	return out
}
