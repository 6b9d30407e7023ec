package launch

import (
	"context"
	"fmt"
	"os"

	"rollcall/adapters"
	"rollcall/app/store/lock"
	"rollcall/proc"
)

// processTable is what strangers reads of processes; *proc.Table implements it.
type processTable interface {
	List(ctx context.Context) ([]proc.Process, error)
	UID(id proc.Identity) (int, error)
	CWD(id proc.Identity) (string, error)
}

// strangers returns a warning for each agent of another user that works in a folder, or that may: the system shows its folder to its own user
// only, and others can write to this one. The locks and sessions of other users are not readable either, so that no launch is refused because of
// them. uid is the user of this process. Root is not warned, since it sees the sessions of all users.
func strangers(ctx context.Context, table processTable, uid int, dir string) (warnings []error) {
	info, err := os.Stat(dir)
	if err != nil || uid <= 0 || info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	rows, _ := table.List(ctx) // those that are missing can't be seen
	for _, p := range rows {
		d, known := adapters.OfProcess(p.Comm)
		owner, err := table.UID(p.Identity)
		if !known || err != nil || owner == uid {
			continue
		}
		who := fmt.Sprintf("%s of another user (process %d, user %d)", d.Title, p.PID, owner)
		switch cwd, err := table.CWD(p.Identity); {
		case err != nil:
			warnings = append(warnings, fmt.Errorf("%s is running, and it can't be seen whether it works in %s, to which others can write", who, lock.Shown(dir)))
		case lock.Overlap(cwd, dir):
			warnings = append(warnings, fmt.Errorf("%s works in %s", who, lock.Shown(cwd)))
		}
	}
	return warnings
}
