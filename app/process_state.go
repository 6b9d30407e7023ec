package app

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// startTolerance is the time by which a session's last record must be older than its process for its open turn to
// count as another process's. Start times that a program stored are known to the second only.
const startTolerance = 2 * time.Second

// adapterReport is a session as its adapter reported it. It is kept if the session is shown differently.
type adapterReport struct {
	session  adapters.Session
	openTurn bool // its turn is open, and its process is suspended
}

// addProcessState adds the state of live processes to reconciled rows, in place. It keeps
// in s.reported what the adapter reported of each row that it changes.
//
//	listed    process                                        shown
//	working   started after the session's last record        idle, died: that turn was another process's
//	working   suspended                                      idle, suspended
//	else      suspended                                      as listed, suspended
func (s *source) addProcessState(rows []Session, processes map[proc.Identity]proc.Process) {
	clear(s.reported)
	for i := range rows {
		x := &rows[i]
		if !hasProcess(x) {
			delete(s.atWork, x.ID)
			continue
		}
		p, ok := processes[x.Process]
		if !ok {
			continue
		}
		said := adapterReport{session: x.Session}
		if x.Status == adapters.Working && !x.Shared && (x.Launch == nil || !x.Launch.Unlisted) {
			s.checkTurnOwner(x, &p)
		}
		if p.Suspended {
			said.openTurn = x.Status == adapters.Working
			markSuspended(x)
		}
		if x.Status != said.session.Status || x.Suspended {
			s.reported[x.ID] = said
		}
	}
}

// checkTurnOwner shows x as idle if its open turn does not belong to its process p. A turn that once belonged to p always
// does, since setting the clock forward moves the start time of the process but not the time of the record.
func (s *source) checkTurnOwner(x *Session, p *proc.Process) {
	if s.atWork[x.ID] == p.Identity {
		return
	}
	if x.LastActivityAt.IsZero() || p.Started.Sub(x.LastActivityAt) < startTolerance {
		s.atWork[x.ID] = p.Identity
		return
	}
	x.Status, x.Outcome = adapters.Idle, adapters.Died
	if r, ok := s.idleOutcomes[x.ID]; ok && !r.isNewer(&x.Session) {
		x.Outcome = r.outcome
	}
	x.Evidence = fmt.Sprintf("its last record (%s) is older than process %d (started %s), so its open turn belonged to another process; its agent's files: %s",
		x.LastActivityAt.Format(time.DateTime), p.PID, p.Started.Format(time.DateTime), x.Evidence)
}

// markSuspended shows x as a session of a suspended process.
func markSuspended(x *Session) {
	x.Suspended = true
	if x.Status == adapters.Working {
		x.Status = adapters.Idle
	}
	x.Evidence = fmt.Sprintf("process %d is suspended (Ctrl-Z or SIGSTOP); before: %s", x.Process.PID, x.Evidence)
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
			x.Session = said.session
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
