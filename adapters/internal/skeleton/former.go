package skeleton

import (
	"maps"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// Begun is what the search for the former folder of a process needs to know of a session.
type Begun struct {
	Home, CWD string
	At        time.Time // when it began
	Written   time.Time // when it was written last
}

// beginsWithin is the longest time from the start of a process to a session that it begins with: 5 s were seen, and longer on a busy machine.
const beginsWithin = time.Minute

// FindFormer finds the former folder of processes whose folder was renamed and whose environment does not tell its former name, by the sessions that they have
// in it. A process without a session where it is now has one that began with it in a folder that is gone since, if no other process and no other session can be
// meant: of several that can, each must have begun one of its own. Otherwise it may have any of them: see MayHaveLeft.
func (l *Look) FindFormer(sessions []Begun) {
	f := former{sessions: sessions, may: map[int][]*Process{}, only: map[*Process][]int{}, began: map[*Process]int{}, by: map[int]*Process{}}
	f.findAll(slices.DeleteFunc(slices.Clone(l.processes), func(p *Process) bool { return p.Hosts }))
	isFree := func(p *Process, i int) bool { return !f.hasBegun(p) && f.by[i] == nil && slices.Contains(f.may[i], p) }
	begins := func(p *Process, i int) string {
		at := sessions[i].At
		return kit.If(p.Precedes(at) && at.Before(p.Started.Add(beginsWithin)), "it began with the process")
	}
	Match(slices.Collect(maps.Keys(f.only)), slices.Collect(maps.Keys(f.may)), isFree, func(p *Process, i int, _ string) {
		f.began[p] = i
		f.by[i] = p
	}, Evidence[*Process, int]{Rank: Fits, Shows: begins})
	for p := range f.only {
		if f.isCertain(p) {
			p.Former, p.left = []string{sessions[f.began[p]].CWD}, nil
		}
	}
}

// former is a search for former folders. Sessions are known by their index.
type former struct {
	sessions []Begun
	may      map[int][]*Process // those that may have a session
	only     map[*Process][]int // the sessions that a process may have
	began    map[*Process]int   // the session that began with a process
	by       map[int]*Process
}

// findAll finds the sessions in folders that are gone which processes may have that have none where they are now.
func (f *former) findAll(processes []*Process) {
	for _, p := range processes {
		isOwn := func(s Begun) bool { return p.Uses(s.Home) && p.Precedes(s.Written) }
		if slices.ContainsFunc(f.sessions, func(s Begun) bool { return isOwn(s) && p.At(s.CWD) }) {
			continue
		}
		for i, s := range f.sessions {
			isThere := slices.ContainsFunc(processes, func(o *Process) bool { return o.Uses(s.Home) && o.At(s.CWD) })
			if isOwn(s) && !isThere && p.CanHaveLeft(s.CWD) {
				p.left = append(p.left, s.CWD)
				f.may[i] = append(f.may[i], p)
				f.only[p] = append(f.only[p], i)
			}
		}
	}
}

// isCertain reports whether a process began a session, and so did each other process that may have one of those that it may have. Those in one folder
// began in one folder.
func (f *former) isCertain(p *Process) bool {
	hasNone := func(o *Process) bool { return !f.hasBegun(o) }
	isOpen := func(i int) bool { return f.by[i] == nil || slices.ContainsFunc(f.may[i], hasNone) }
	if !f.hasBegun(p) || slices.ContainsFunc(f.only[p], isOpen) {
		return false
	}
	for o, i := range f.began {
		if (o.CWD == p.CWD) != (f.sessions[i].CWD == f.sessions[f.began[p]].CWD) {
			return false
		}
	}
	return true
}

func (f *former) hasBegun(p *Process) bool {
	_, has := f.began[p]
	return has
}

// MayHaveLeft reports whether the process may have begun in a folder that was renamed since, of which it is not certain.
func (p *Process) MayHaveLeft(folder string) bool { return slices.Contains(p.left, folder) }

// CanHaveLeft reports whether the process can have begun in a folder that was renamed since, by what is known of the folder.
func (p *Process) CanHaveLeft(folder string) bool {
	_, isGone := adapters.MayHaveLeft(folder, p.Env, p.CWD, p.Started)
	return isGone
}
