package worktree

import (
	"context"
	"errors"
	"fmt"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/proc"
)

// AtWork returns a function that lists the live sessions and processes of this machine with their working folders. Some
// sessions, such as those of Codex's daemon, have no process in their folder. refresh asks the agents. The error of
// that function reports what may be missing from the list.
func AtWork(refresh func(context.Context) *app.Snapshot, table proc.Lister) Occupants {
	return func(ctx context.Context) ([]Occupant, error) {
		snap := refresh(ctx)
		var out []Occupant
		for s := range snap.Known() {
			if s.Live() && s.HasLocalFolder() {
				who := fmt.Sprintf("%s %s (%s)", present.AgentName(s.Agent), present.Line(present.ShortID(&s.Session)), present.Status(s.Session))
				out = append(out, Occupant{Folder: s.CWD, Who: who})
			}
		}
		var errs []error
		for _, name := range snap.Incomplete() {
			errs = append(errs, fmt.Errorf("the sessions of %s could not all be read", name))
		}
		if table == nil {
			return out, errors.Join(append(errs, errors.New("the process table is not available"))...)
		}
		processes, err := inFolders(ctx, table)
		return append(out, processes...), errors.Join(append(errs, err, ctx.Err())...)
	}
}

// inFolders returns the processes of this machine with their working folders, except those of other users, whose folders
// cannot be read.
func inFolders(ctx context.Context, table proc.Lister) (out []Occupant, err error) {
	rows, err := table.List(ctx)
	for _, p := range rows {
		if ctx.Err() != nil {
			break
		}
		if folder, err := table.CWD(p.Identity); err == nil && folder != "" {
			out = append(out, Occupant{folder, fmt.Sprintf("process %d (%s)", p.PID, p.Comm)})
		}
	}
	return out, err
}
