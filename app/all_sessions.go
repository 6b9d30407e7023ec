package app

import (
	"iter"
	"sort"
	"sync"

	"rollcall/adapters"
)

// Counts are numbers of sessions, by the Rank of their status.
type Counts [len(Order)]int

// AtWork reports whether a session counts as at work: it is live, and not a sub-agent, unless that waits for the user.
func (s *Session) AtWork() bool {
	return s.Live() && (s.Parent == "" || s.Status == adapters.Waiting)
}

// CountAtWork returns the numbers of sessions at work. Its cost does not grow with the sessions of other machines.
func (s *Snapshot) CountAtWork() Counts {
	n := countAtWork(s.Own)
	others := s.othersAtWork
	if others == nil && len(s.Others) > 0 {
		counted := countAtWork(s.Others)
		others = &counted
	}
	if others != nil {
		for rank := range n {
			n[rank] += others[rank]
		}
	}
	return n
}

func countAtWork(list []Session) (n Counts) {
	for i := range list {
		if s := &list[i]; s.AtWork() {
			n[Rank(s.Status)]++
		}
	}
	return n
}

// joinedSessions is the list that Snapshot.Sessions returns for two lists that do not change. It is made at the first call.
type joinedSessions struct {
	once sync.Once
	list []Session
}

// All yields the sessions of this machine and of the others, in the order of Sort: the live sessions come before the stopped ones, and
// those that wait before all others. It copies none, so that its cost does not grow with the sessions that a caller leaves out.
func (s *Snapshot) All() iter.Seq[*Session] {
	return func(yield func(*Session) bool) {
		others := s.Others
		for i := range s.Own {
			n := before(others, &s.Own[i])
			if !yieldEach(others[:n], yield) || !yield(&s.Own[i]) {
				return
			}
			others = others[n:]
		}
		yieldEach(others, yield)
	}
}

// before returns how many sessions of a sorted list come before or with s. The list may be very long, so it is not read from its start.
func before(sorted []Session, s *Session) int {
	return sort.Search(len(sorted), func(i int) bool { return compareSessions(&sorted[i], s) > 0 })
}

// yieldEach reports whether yield wants more.
func yieldEach(list []Session, yield func(*Session) bool) bool {
	for i := range list {
		if !yield(&list[i]) {
			return false
		}
	}
	return true
}

// Sessions returns what All yields as one list, which the callers share. With sessions of other machines, the first call for these sessions
// copies them all: a caller that needs only some of them uses All.
func (s *Snapshot) Sessions() []Session {
	switch {
	case len(s.Others) == 0:
		return s.Own
	case len(s.Own) == 0:
		return s.Others
	case s.joined == nil:
		return s.join()
	}
	s.joined.once.Do(func() { s.joined.list = s.join() })
	return s.joined.list
}

// join copies the sessions into one list. What lies between two sessions of this machine is copied as it is.
func (s *Snapshot) join() []Session {
	out := make([]Session, 0, len(s.Own)+len(s.Others))
	others := s.Others
	for i := range s.Own {
		n := before(others, &s.Own[i])
		out = append(append(out, others[:n]...), s.Own[i])
		others = others[n:]
	}
	return append(out, others...)
}
