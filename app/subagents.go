package app

import "rollcall/adapters"

// Family contains which sessions of a list are sub-agents of which others. It refers to
// sessions by their index in the list.
type Family struct {
	Parent   []int   // -1: no parent is listed
	Children [][]int // in the order of the list
}

// Nest finds the sub-agents of each session. Where sessions are each other's parents by
// their agents' files, it ignores the parent of one.
func Nest(sessions []Session) Family {
	type key struct {
		agent adapters.Name
		id    string
	}
	f := Family{Parent: make([]int, len(sessions)), Children: make([][]int, len(sessions))}
	at := make(map[key]int, len(sessions))
	for i := range sessions {
		f.Parent[i] = -1
		k := key{sessions[i].Agent, sessions[i].ID}
		if _, ok := at[k]; !ok {
			at[k] = i
		}
	}
	for i := range sessions {
		s := &sessions[i]
		if p, ok := at[key{s.Agent, s.Parent}]; ok && s.Parent != "" && !f.isBelow(p, i) {
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
