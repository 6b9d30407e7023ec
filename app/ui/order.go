package ui

import (
	"cmp"
	"slices"
	"time"
)

// position is the place of a session in its group of the list. A session gets it when it comes into the group, and
// keeps it: if a dozen working agents were always sorted by their last activity, rows would move under the pointer.
type position struct {
	own, family group     // of the session, and of its family
	at          time.Time // its last activity then
	seq         int       // its index in the snapshot then; breaks ties
}

// arrange sets the position of each session: the one it has while it stays in its group, else a new one.
func (b *builder) arrange() {
	b.positions = make([]position, len(b.list))
	b.v.positions = make(map[key]position, len(b.list))
	for i := range b.list {
		s, k := &b.list[i], b.x.keys[i]
		p := position{own: groupOf(s.Status), family: b.urgency(i), at: s.LastActivityAt, seq: i}
		if was, ok := b.s.positions[k]; ok && was.own == p.own && was.family == p.family {
			p = was
		}
		b.positions[i], b.v.positions[k] = p, p
	}
}

// inOrder returns sessions in the order of their positions.
func (b *builder) inOrder(sessions []int) []int {
	if len(sessions) < 2 {
		return sessions
	}
	out := slices.Clone(sessions) // the builder reuses the index
	slices.SortStableFunc(out, func(i, j int) int {
		p, q := &b.positions[i], &b.positions[j]
		return cmp.Or(cmp.Compare(p.own, q.own), q.at.Compare(p.at), cmp.Compare(p.seq, q.seq))
	})
	return out
}
