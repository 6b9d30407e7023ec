package cli

import (
	"fmt"
	"os"
	"slices"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// agentByProcess returns the agent whose processes the system lists under a name.
// It works where nothing else of a process can be read. Of several agents with the same
// program it returns the first.
func agentByProcess(name string) (adapters.Description, bool) {
	for _, d := range adapters.Described() {
		if slices.Contains(d.Processes, name) {
			return d, true
		}
	}
	return adapters.Description{}, false
}

// ownerTable is a process table that knows the user of a process; *proc.Table is one.
type ownerTable interface {
	UID(id proc.Identity) (int, error)
}

// othersAgents counts the processes of list that look like an agent's and belong to
// another user than uid. It leaves out the processes whose user is not known.
func othersAgents(list []proc.Process, table ownerTable, agents []adapters.Adapter, uid int) int {
	n := 0
	for _, p := range list {
		if !looksLikeAgent(p, agents) {
			continue
		}
		if owner, err := table.UID(p.Identity); err == nil && owner != uid {
			n++
		}
	}
	return n
}

// looksLikeAgent reports whether a process has an agent's name, or belongs to an agent as
// an adapter judges.
func looksLikeAgent(p proc.Process, agents []adapters.Adapter) bool {
	_, byName := agentByProcess(p.Comm)
	return byName || slices.ContainsFunc(agents, func(a adapters.Adapter) bool {
		o, ok := a.(adapters.ProcessOwner)
		return ok && o.OwnsProcess(p)
	})
}

// boundedOwner is an adapter whose judgement of a process is not waited for long.
type boundedOwner struct {
	adapters.Adapter
	calls *bounded.Calls
}

// boundOwners returns the adapters with judgements of processes that take no longer than
// calls allow.
func boundOwners(agents []adapters.Adapter, calls *bounded.Calls) []adapters.Adapter {
	out := make([]adapters.Adapter, len(agents))
	for i, a := range agents {
		out[i] = boundedOwner{a, calls}
	}
	return out
}

// OwnsProcess implements adapters.ProcessOwner. It returns false when the adapter does
// not answer in time.
func (b boundedOwner) OwnsProcess(p proc.Process) bool {
	o, ok := b.Adapter.(adapters.ProcessOwner)
	if !ok {
		return false
	}
	type key struct {
		agent   adapters.Name
		process proc.Identity
	}
	mine, _ := bounded.Call(b.calls, key{b.Name(), p.Identity}, func() bool { return o.OwnsProcess(p) })
	return mine
}

// othersCheck returns the number of agent processes of other users, which are not listed. It reports false if there
// are none, or if this user is root, who sees all.
func othersCheck(list []proc.Process, table proc.Lister, agents []adapters.Adapter) (checkJSON, bool) {
	who, ok := table.(ownerTable)
	uid := os.Geteuid()
	if !ok || uid <= 0 { // Windows has no user ids
		return checkJSON{}, false
	}
	// containersCheck counts those whose files can't be read; their users are often
	// unknown to this machine.
	list = slices.DeleteFunc(slices.Clone(list), func(p proc.Process) bool {
		return looksLikeAgent(p, agents) && isUnreadable(table, p.Identity)
	})
	n := othersAgents(list, who, agents, uid)
	if n == 0 {
		return checkJSON{}, false
	}
	return checkJSON{"other users", "ok", othersDetail(n)}, true
}

func othersDetail(n int) string {
	if n == 1 {
		return "1 agent process of another user is not listed; run rollcall as root to list it"
	}
	return fmt.Sprintf("%d agent processes of other users are not listed; run rollcall as root to list them", n)
}
