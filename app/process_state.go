package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// liveness is the process table as it is compared with one answer. It asks the table once
// per process, so that all rows are compared with the same state.
type liveness struct {
	table proc.Lister
	watch map[proc.Identity]bool // watched processes, and whether they ended
	memo  map[proc.Identity]bool
}

func (c *Core) liveness(s *source) *liveness {
	n := &liveness{table: c.cfg.Table, memo: map[proc.Identity]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.watch = make(map[proc.Identity]bool, len(s.watches))
	for id, w := range s.watches {
		n.watch[id] = w.exited
	}
	return n
}

// readAll asks the table for every process of the lifetimes.
func (n *liveness) readAll(s *source) {
	for _, l := range s.lifetimes {
		for _, p := range l.processes {
			n.alive(p)
		}
		if !l.terminal.IsZero() {
			n.alive(l.terminal)
		}
	}
}

func (n *liveness) alive(id proc.Identity) bool {
	v, ok := n.memo[id]
	if !ok {
		v = !n.watch[id] && (n.table == nil || n.table.Alive(id))
		n.memo[id] = v
	}
	return v
}

// dead reports whether the process is known to have ended. It does not ask the table.
func (n *liveness) dead(id proc.Identity) bool {
	v, ok := n.memo[id]
	return ok && !v
}

// notEnded reports whether the process has not ended. For a watched process it asks only
// the watcher, since the table may fail to read a process that the watcher has open.
func (n *liveness) notEnded(id proc.Identity) bool {
	if fired, watched := n.watch[id]; watched {
		return !fired
	}
	return n.alive(id)
}

// addProcessState adds the state of live processes to reconciled rows, in place. It keeps
// in s.reported what the adapter reported of each row that it changes.
//
//	listed    process     shown
//	any       moved       in the folder in which the process is, which had the listed name
//	working   suspended   idle, suspended
//	else      suspended   as listed, suspended
//	live      asks        waiting, if Rollcall holds its input
//	unknown   tells       as the process tells Rollcall, which holds its input
//	working   quiet       working, without a sign of life
//	idle      commands    idle, and that they run
//	waiting   foreign     waiting, and that it can be answered only there
func (c *Core) addProcessState(s *source, rows []Session, now *liveness) {
	clear(s.reported)
	processes := now.processes(rows)
	quiet := quietReader{table: now.table, rows: rows, at: time.Now()}
	if c.cfg.StalledAfter != nil {
		quiet.after = c.cfg.StalledAfter()
	}
	for i := range rows {
		x := &rows[i]
		p, ok := processes[x.Process]
		if !ok || !hasProcess(x) {
			continue
		}
		said := x.Session
		now.showMovedCWD(x, &p)
		if p.Suspended {
			markSuspended(x)
		}
		c.markHosted(x)
		if x.Status == adapters.Waiting && c.Conversant(x) == nil {
			markForeign(x)
		}
		quiet.mark(x)
		quiet.addCommands(x)
		if x.Evidence != said.Evidence || !x.AskAgain.Equal(said.AskAgain) {
			s.reported[x.ID] = said
		}
	}
}

// markSuspended shows x as a session of a suspended process.
func markSuspended(x *Session) {
	x.Suspended = true
	if x.Status == adapters.Working {
		x.Status = adapters.Idle
	}
	x.Evidence = fmt.Sprintf("process %d is suspended (Ctrl-Z or SIGSTOP); before: %s", x.Process.PID, x.Evidence)
}

// markForeign adds to the evidence of x that its process is in a container or sandbox that this process is not in.
func markForeign(x *Session) {
	err := proc.CheckBoundary(x.Process)
	if !errors.Is(err, proc.ErrForeign) {
		return
	}
	reason := strings.TrimPrefix(err.Error(), proc.ErrForeign.Error()+": ")
	x.Evidence += fmt.Sprintf("; it %s (%s), so it can only be answered there", proc.ErrForeign, reason)
}

// hasProcess reports whether x is live and its process runs on this machine.
func hasProcess(x *Session) bool { return x.Live() && x.Remote == "" && !x.Process.IsZero() }

// reportedRows returns the shown rows as their adapter reported them.
func (s *source) reportedRows() []Session {
	if len(s.reported) == 0 {
		return s.shown
	}
	out := make([]Session, len(s.shown))
	for i, x := range s.shown {
		if said, ok := s.reported[x.ID]; ok {
			x.Session, x.FormerCWD = said, ""
		}
		out[i] = x
	}
	return out
}

// processes reads the processes of the live rows in one pass.
func (n *liveness) processes(rows []Session) map[proc.Identity]proc.Process {
	if n.table == nil {
		return nil
	}
	ids := map[proc.Identity]bool{}
	for i := range rows {
		if x := &rows[i]; hasProcess(x) {
			ids[x.Process] = true
		}
	}
	return proc.FindAll(n.table, slices.Collect(maps.Keys(ids)))
}
