package worktree

import (
	"context"
	"fmt"

	"rollcall/proc"
)

// Processes returns the live processes of this machine with the folders that
// they work in. Those of other users, which do not show theirs, are left out.
func Processes(table proc.Lister) Occupants {
	return func(ctx context.Context) ([]Occupant, error) {
		rows, err := table.List(ctx)
		var out []Occupant
		for _, p := range rows {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if folder, err := table.CWD(p.Identity); err == nil && folder != "" {
				out = append(out, Occupant{folder, fmt.Sprintf("process %d (%s)", p.PID, p.Comm)})
			}
		}
		return out, err
	}
}
