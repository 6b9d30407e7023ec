package claudecode

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/proc"
)

// sessionless returns the rows of the processes that no session of the answer runs in:
// before the registry entry of a new version, which it writes after its trust dialog,
// and before the first prompt of an old one. A process whose entry or whose files can't
// be seen from here gets none: it may have a session.
func (d *discovery) sessionless() []adapters.Session {
	claimed := make(map[proc.Identity]bool)
	for _, s := range d.sessions {
		for i := range s.owners {
			claimed[s.owners[i].Identity] = true
		}
	}
	var rows []adapters.Session
	for _, p := range d.unregistered() {
		if claimed[p.Identity] || d.unreadableEntries[p.PID] != "" || p.home == "" || len(d.table.innerPIDs(p.Identity)) > 0 || !d.table.Alive(p.Identity) {
			continue
		}
		row := adapters.ProcessSession(adapters.ClaudeCode, p.Process, p.cwd)
		if p.unresponsive {
			row = adapters.UnresponsiveProcess(adapters.ClaudeCode, p.Process, p.cwd, p.home)
		} else if p.oneShot {
			row.Status = adapters.Working
			row.Evidence = fmt.Sprintf("process %d: runs with -p, no session yet", p.PID)
		}
		if len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}
