package adaptertest

import (
	"context"

	"rollcall/proc"
)

// OwnTable is this machine's process table, of which an adapter sees the descendants of
// one process alone, as a rule those of the test. An adapter finds the homes of agents through their processes: over
// the whole table a test would read, and might stop, those of whoever runs it.
type OwnTable struct {
	*proc.Table
	root int
}

// NewOwnTable opens the table for the descendants of root.
func NewOwnTable(root int) OwnTable { return OwnTable{proc.Open(), root} }

// Pressure implements proc.Lister: what a test decides does not depend on the machine's load.
func (t OwnTable) Pressure() float64 { return 0 }

// List implements proc.Lister.
func (t OwnTable) List(ctx context.Context) ([]proc.Process, error) {
	all, err := t.Table.List(ctx)
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.PID] = p.PPID
	}
	var own []proc.Process
	for _, p := range all {
		pid := p.PPID
		for range len(all) {
			if pid == t.root || pid == 0 {
				break
			}
			pid = parents[pid]
		}
		if pid == t.root {
			own = append(own, p)
		}
	}
	return own, err
}
