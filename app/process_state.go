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
