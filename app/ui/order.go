package ui

import (
	"cmp"
	"slices"
	"time"
)

// placing is where a session stands in its group of the list. It is given when
// the session comes into the group, and stays: a dozen agents at work take turns
// at being the last one that did something, and rows that follow them would jump
// about under the pointer.
type placing struct {
	own, family group     // of the session, and of its family
	at          time.Time // its last activity then
	seq         int       // breaks ties: its place in the snapshot then
}

// place finds the places of all sessions: those they have, as long as they stay
// in their groups, else new ones.
func (b *builder) place() {
	b.placed = make([]placing, len(b.snap.Sessions))
	b.v.placed = make(map[key]placing, len(b.snap.Sessions))
	for i := range b.snap.Sessions {
		s, k := &b.snap.Sessions[i], b.x.keys[i]
		p := placing{own: groupOf(s.Status), family: b.urgency(i), at: s.LastActivityAt, seq: i}
		if was, ok := b.s.placed[k]; ok && was.own == p.own && was.family == p.family {
			p = was
		}
		b.placed[i], b.v.placed[k] = p, p
	}
}

// inOrder are sessions in the order of their places.
func (b *builder) inOrder(sessions []int) []int {
	if len(sessions) < 2 {
		return sessions
	}
	out := slices.Clone(sessions) // the index is used again
	slices.SortStableFunc(out, func(i, j int) int {
		p, q := &b.placed[i], &b.placed[j]
		return cmp.Or(cmp.Compare(p.own, q.own), q.at.Compare(p.at), cmp.Compare(p.seq, q.seq))
	})
	return out
}
