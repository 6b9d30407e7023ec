package claudecode

import (
	"strings"
	"time"

	"rollcall/proc"
)

// A Claude Code in a separate pid namespace writes its inner pid into the registry, and
// the name of that namespace (pidDomain). The process table of a namespace above it has
// both pids.

// innerPIDs returns the pids of a process in namespaces below this one.
func (t *table) innerPIDs(id proc.Identity) []int {
	pids, known := t.inner[id]
	if !known {
		pids, _ = t.InnerPIDs(id) // none where the system doesn't show them
		if t.inner == nil {
			t.inner = make(map[proc.Identity][]int)
		}
		t.inner[id] = pids
	}
	return pids
}

// entryDelay is the longest time that a version without procStart needs after its start to
// write its registry entry, provided that its start dialogs are answered.
const entryDelay = time.Minute

// innerProcesses returns the processes of inner pid namespaces that can have written the
// entry. Before about 2.1.139 it can be several.
func (d *discovery) innerProcesses(e *entry) (found []proc.Process) {
	for i := range d.table.claudes {
		p := d.table.claudes[i].Process
		pids := d.table.innerPIDs(p.Identity)
		if len(pids) == 0 || pids[len(pids)-1] != e.pid {
			continue
		}
		if e.procStart == "" && (e.started.IsZero() || e.started.Sub(p.Started) > entryDelay) {
			continue
		}
		if e.isBy(p, func() string { return "" }) != isWriter {
			continue
		}
		found = append(found, p)
	}
	return found
}

// initialDomain is the end of the name of the initial pid namespace, whose number Linux has fixed since 3.8.
const initialDomain = ":pid:[4026531836]"

// sees reports whether every process of that pid namespace is in the table: the
// namespace is one of this machine, and the table is that of all namespaces, without a
// hidepid that leaves out other users' processes.
func (t *table) sees(domain string) bool {
	machine, initial := strings.CutSuffix(t.Domain(), initialDomain)
	if !initial || !strings.HasPrefix(domain, machine+":pid:") {
		return false
	}
	_, err := t.Find(1)
	return err == nil
}
