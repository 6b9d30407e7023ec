package skeleton

import (
	"slices"
	"time"

	"rollcall/adapters"
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
// meant. Otherwise it may have any of them: see MayHaveLeft.
func (l *Look) FindFormer(sessions []Begun) {
	processes := slices.DeleteFunc(slices.Clone(l.processes), func(p *Process) bool { return p.Hosts })
	may := map[int][]*Process{} // by the index of the session
	only := map[*Process][]int{}
	for _, p := range processes {
		isOwn := func(s Begun) bool { return p.Uses(s.Home) && p.Precedes(s.Written) }
		if slices.ContainsFunc(sessions, func(s Begun) bool { return isOwn(s) && p.At(s.CWD) }) {
			continue
		}
		for i, s := range sessions {
			isThere := slices.ContainsFunc(processes, func(o *Process) bool { return o.Uses(s.Home) && o.At(s.CWD) })
			if isOwn(s) && !isThere && p.CanHaveLeft(s.CWD) {
				p.left = append(p.left, s.CWD)
				may[i] = append(may[i], p)
				only[p] = append(only[p], i)
			}
		}
	}
	for p, list := range only {
		s := sessions[list[0]]
		if len(list) == 1 && len(may[list[0]]) == 1 && p.Precedes(s.At) && s.At.Before(p.Started.Add(beginsWithin)) {
			p.Former, p.left = []string{s.CWD}, nil
		}
	}
}

// MayHaveLeft reports whether the process may have begun in a folder that was renamed since, of which it is not certain.
func (p *Process) MayHaveLeft(folder string) bool { return slices.Contains(p.left, folder) }

// CanHaveLeft reports whether the process can have begun in a folder that was renamed since, by what is known of the folder.
func (p *Process) CanHaveLeft(folder string) bool {
	_, isGone := adapters.MayHaveLeft(folder, p.Env, p.CWD, p.Started)
	return isGone
}
