package app

import (
	"iter"
	"sort"
	"sync"

	"rollcall/adapters"
)

// Counts are numbers of sessions, by the Rank of their status.
type Counts [len(Order)]int

// AtWork reports whether a session counts as at work: it is live, and it is either not a sub-agent or waits for the user.
func (s *Session) AtWork() bool {
	return s.Live() && (s.Parent == "" || s.Status == adapters.Waiting)
}

// CountAtWork returns the numbers of sessions at work that have a row in the menu, the number of those that Headless folds, and of those that the user put away.
// Its cost does not grow with
// the sessions of other machines.
func (s *Snapshot) CountAtWork() (n Counts, folded, away int) {
	own, others := countAtWork(s.Own), s.othersAtWork // only sessions of this machine are put away
	if others == nil {
		counted := countAtWork(s.Others)
		others = &counted
	}
	for rank := range n {
		headless := own.headless[rank] + others.headless[rank]
		n[rank] = own.all[rank] + others.all[rank]
		if s.Headless != ShowHeadless {
			n[rank] -= headless
			folded += headless
		}
	}
	return n, folded, own.away
}

// atWork are the numbers of sessions at work, how many of them FoldHeadless folds, and how many others the user put away.
type atWork struct {
	all, headless Counts
	away          int
}

func countAtWork(list []Session) (n atWork) {
	for i := range list {
		s := &list[i]
		switch {
		case !s.AtWork():
		case s.PutAway():
			n.away++
		default:
			n.all[Rank(s.Status)]++
			if FoldHeadless.Folds(s) {
				n.headless[Rank(s.Status)]++
			}
		}
	}
	return n
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

// before returns how many sessions of a sorted list sort before s or equal to it. It uses a binary search, since the list may be very long.
func before(sorted []Session, s *Session) int {
	return sort.Search(len(sorted), func(i int) bool { return compareSessions(&sorted[i], s) > 0 })
}

// yieldEach calls yield for each session of a list. It returns false once yield has returned false.
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
	if s.joined == nil {
		return merge([][]Session{s.Own, s.Others})
	}
	return s.joined()
}

// joinOnce returns a function that joins two lists at its first call. The lists must not change.
func joinOnce(own, others []Session) func() []Session {
	return sync.OnceValue(func() []Session { return merge([][]Session{own, others}) })
}

// Family contains which sessions of a list are sub-agents of which others. It refers to
// sessions by their index in the list.
type Family struct {
	Parent   []int   // -1: no parent is listed
	Children [][]int // in the order of the list
}

// Nest finds the sub-agents of each session. Where sessions are each other's parents by
// their agents' files, it ignores the parent of one.
func Nest(sessions []Session) Family {
	f := Family{Parent: make([]int, len(sessions)), Children: make([][]int, len(sessions))}
	at := make(map[SessionKey]int, len(sessions))
	for i := range sessions {
		f.Parent[i] = -1
		k := sessions[i].Key()
		if _, ok := at[k]; !ok {
			at[k] = i
		}
	}
	for i := range sessions {
		s := &sessions[i]
		if p, ok := at[SessionKey{s.Agent, s.Parent}]; ok && s.Parent != "" && !f.isBelow(p, i) {
			f.Parent[i] = p
			f.Children[p] = append(f.Children[p], i)
		}
	}
	return f
}

// isBelow reports whether session i is ancestor or a sub-agent below it.
func (f *Family) isBelow(i, ancestor int) bool {
	for ; i >= 0; i = f.Parent[i] {
		if i == ancestor {
			return true
		}
	}
	return false
}
