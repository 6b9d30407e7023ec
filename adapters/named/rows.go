package named

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// rowPause is how long rows of live sessions count: what a program reads changes without an event.
const rowPause = 5 * time.Second

// addRows adds the sessions that the agent's program lists, each with its process as it is.
func (a *Adapter) addRows(ctx context.Context, answer *kit.Answer, u *adapters.Unread, q adapters.Query, table []proc.Process) {
	answer.LookedIn(u.Rows[0])
	rows, err := a.programs.Rows(ctx, u)
	if err != nil {
		answer.Problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: u.Rows[0], Err: err,
			Fix: "the program of rows in config.toml lists these sessions; rollcall agent test shows what it prints"})
	}
	for i := range rows {
		s := a.check(&rows[i], table)
		if q.IDs != nil && !slices.Contains(q.IDs, s.ID) || q.IDs == nil && !s.Live() && s.LastActivityAt.Before(q.Since) {
			continue
		}
		if s.Live() {
			s.AskAgain = a.claims.now().Add(rowPause)
		}
		answer.Add(s)
	}
}

// check returns a row with the process that it names, if that can be the agent's. Otherwise the row is stopped, or unknown, and says why.
func (a *Adapter) check(row *adapters.ProgramRow, table []proc.Process) adapters.Session {
	s := row.Session
	s.Evidence = cmp.Or(s.Evidence, "the program of rows gives no reason")
	if !filepath.IsAbs(s.CWD) {
		s.CWD = ""
	}
	if s.Status == adapters.Stopped {
		return s
	}
	p, status, why := a.process(row, table)
	if why == "" {
		s.Process = p.Identity
		return s
	}
	s.Status = status
	s.WaitingFor = ""
	s.Decision = ""
	s.Evidence = why + "; the program of rows says: " + s.Evidence
	if status == adapters.Unknown || s.Outcome == adapters.Died {
		s.Outcome = ""
	}
	return s
}

// process returns the process that a row names. why is the reason for which it does not count, with the status that the row then has; empty: it counts.
func (a *Adapter) process(row *adapters.ProgramRow, table []proc.Process) (p proc.Process, status adapters.Status, why string) {
	if row.PID == 0 {
		return p, adapters.Unknown, "the row names no process"
	}
	if row.Start == 0 {
		return p, adapters.Unknown, fmt.Sprintf("the row names process %d without its start time (pid_start), and the number alone proves nothing", row.PID)
	}
	i := slices.IndexFunc(table, func(x proc.Process) bool { return x.PID == row.PID })
	if i < 0 {
		return p, adapters.Stopped, fmt.Sprintf("process %d, which the row names, has ended", row.PID)
	}
	p = table[i]
	if p.Start != row.Start {
		return p, adapters.Stopped, fmt.Sprintf("process %d, which the row names, has ended: the number is that of another process now, which began at another time", row.PID)
	}
	return p, adapters.Unknown, a.objection(p)
}

// objection returns why a process can't be that of a row; empty: it can.
func (a *Adapter) objection(p proc.Process) string {
	exe, err := a.table.Exe(p.Identity)
	self, _ := os.Executable()
	_, cwdErr := a.table.CWD(p.Identity)
	switch {
	case p.PID == os.Getpid() || err == nil && exe == self || agentproc.FileName(exe) == "rollcall":
		return fmt.Sprintf("process %d, which the row names, is Rollcall's own", p.PID)
	case errors.Is(cwdErr, os.ErrPermission) || !a.isOwn(p.Identity):
		return fmt.Sprintf("process %d, which the row names, belongs to another user", p.PID)
	case proc.CheckBoundary(p.Identity) != nil:
		return fmt.Sprintf("process %d, which the row names, %v", p.PID, proc.CheckBoundary(p.Identity))
	case slices.ContainsFunc(a.claims.others, func(o adapters.ProcessOwner) bool { return o.OwnsProcess(p) }):
		return fmt.Sprintf("process %d, which the row names, is that of an agent that Rollcall reads itself", p.PID)
	case !a.OwnsProcess(p):
		return fmt.Sprintf("process %d, which the row names, is %q and no program of %s (program in its [[agent]])", p.PID, p.Comm, a.name)
	}
	return ""
}

// isOwn reports whether a process is the user's, or its user is not known.
func (a *Adapter) isOwn(id proc.Identity) bool {
	uid, err := proc.Open().UID(id)
	return err != nil || uid == os.Getuid()
}
