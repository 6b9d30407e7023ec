package pistore

import (
	"rollcall/adapters"
	"rollcall/proc"
)

var _ adapters.ProcessOwner = (*Store)(nil)

// OwnsProcess implements adapters.ProcessOwner. A child that Pi is about to turn
// into a tool still has Pi's name; it is not owned.
func (s *Store) OwnsProcess(p proc.Process) bool {
	d := discovery{store: s, now: s.now()}
	own := d.look(p)
	if own == nil || own.agent != s.name || own.ignore {
		return false
	}
	if d.now.Sub(p.Started) >= forkTime {
		return true
	}
	parent, err := s.table.Find(p.PPID)
	return err != nil || !d.forked(own, d.look(parent))
}
