package app

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/adapters"
)

// Sort puts sessions into the order in which every surface lists them: those
// that need the user, working, idle, unknown, stopped; in each the newest
// activity first. Ties are broken by agent and id, so the order is always the
// same.
func Sort(s []Session) {
	slices.SortFunc(s, compareForSort)
}

func compareForSort(a, b Session) int { return compareSessions(&a, &b) }

func compareSessions(a, b *Session) int {
	if c := cmp.Compare(rank(a.Status), rank(b.Status)); c != 0 {
		return c
	}
	if c := b.LastActivityAt.Compare(a.LastActivityAt); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.Agent), string(b.Agent)); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

func rank(s adapters.Status) int {
	switch s {
	case adapters.Waiting:
		return 0
	case adapters.Working:
		return 1
	case adapters.Idle:
		return 2
	case adapters.Stopped:
		return 4
	}
	return 3
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
