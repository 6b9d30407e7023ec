package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// agentProcesses maps the program of an agent, such as "claude", to the processes of that agent on this machine.
type agentProcesses map[string][]proc.Process

// findAgentProcesses returns those of list that have an agent's name, or that belong to an agent as an adapter judges. Some agents
// run in an interpreter that does not set the name: their program is the adapter's name.
func findAgentProcesses(list []proc.Process, agents []adapters.Adapter) agentProcesses {
	calls := &bounded.Calls{}
	calls.Begin()
	defer calls.End()
	found := agentProcesses{}
	for _, p := range list {
		if program := programOf(p, agents, calls); program != "" {
			found[program] = append(found[program], p)
		}
	}
	return found
}

// programOf returns the program of an agent's process; empty: p is no agent's process, or no adapter answers in time. A process
// whose name fits several agents counts for the first of them: where nothing else of a process can be read, its name still can.
func programOf(p proc.Process, agents []adapters.Adapter, calls *bounded.Calls) string {
	if d, ok := adapters.OfProcess(p.Comm); ok {
		return d.Program
	}
	type key struct {
		agent   adapters.Name
		process proc.Identity
	}
	for _, a := range agents {
		o, ok := a.(adapters.ProcessOwner)
		if !ok {
			continue
		}
		if mine, _ := bounded.Call(calls, key{a.Name(), p.Identity}, func() bool { return o.OwnsProcess(p) }); mine {
			return string(a.Name())
		}
	}
	return ""
}

// takeContained removes the processes that run in containers whose files can't be read, so that their sessions are not listed, and
// returns doctor's finding about them. It reports false if there are none.
func (f agentProcesses) takeContained(table proc.Lister) (checkJSON, bool) {
	var parts []string
	total := 0
	for _, program := range slices.Sorted(maps.Keys(f)) {
		before := len(f[program])
		f[program] = slices.DeleteFunc(f[program], func(p proc.Process) bool { return isUnreadable(table, p.Identity) })
		if n := before - len(f[program]); n > 0 {
			total += n
			parts = append(parts, plural(n, program+" process"))
		}
	}
	return checkJSON{"containers", "ok", strings.Join(parts, ", ") + ifelse(total == 1, " in a container", " in containers") + " whose files can't be read"}, total > 0
}

// isUnreadable reports whether a process runs in a container and its home there
// can't be read. Where not even the mount namespace of a process is shown, the pid
// namespace, which every user may read, shows that the process is in a container.
func isUnreadable(table proc.Lister, id proc.Identity) bool {
	root, err := table.Root(id)
	if errors.Is(err, proc.ErrGone) {
		return false
	}
	if err != nil {
		inner, err := table.InnerPIDs(id)
		return err == nil && len(inner) > 0
	}
	if root == "" {
		return false
	}
	env, err := table.Env(id)
	if err != nil {
		return !errors.Is(err, proc.ErrGone)
	}
	for _, entry := range env {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok && filepath.IsAbs(home) {
			_, err := os.ReadDir(root + filepath.Clean(home))
			return err != nil && table.Alive(id)
		}
	}
	return table.Alive(id)
}

// ownerTable is a process table that knows the user of a process; *proc.Table is one.
type ownerTable interface {
	UID(id proc.Identity) (int, error)
}

// ofOthers counts the processes that belong to another user than uid. It leaves out those whose user is not known.
func (f agentProcesses) ofOthers(table ownerTable, uid int) (n int) {
	for _, list := range f {
		for _, p := range list {
			if owner, err := table.UID(p.Identity); err == nil && owner != uid {
				n++
			}
		}
	}
	return n
}

// othersCheck returns the number of processes of other users, whose sessions are not listed. It reports false if there
// are none, or if this user is root, who sees all. Those in containers whose files can't be read do not count: their users are often
// unknown to this machine.
func (f agentProcesses) othersCheck(table proc.Lister) (checkJSON, bool) {
	who, ok := table.(ownerTable)
	uid := os.Geteuid()
	if !ok || uid <= 0 { // Windows has no user ids
		return checkJSON{}, false
	}
	n := f.ofOthers(who, uid)
	return checkJSON{"other users", "ok", othersDetail(n)}, n > 0
}

func othersDetail(n int) string {
	if n == 1 {
		return "1 agent process of another user is not listed; run rollcall as root to list it"
	}
	return fmt.Sprintf("%d agent processes of other users are not listed; run rollcall as root to list them", n)
}
