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
	"rollcall/proc"
)

// containersCheck counts the agents that run in containers whose files can't be
// read: their sessions are not listed. It reports false if there are none.
func containersCheck(list []proc.Process, table proc.Lister, agents []adapters.Adapter) (checkJSON, bool) {
	programs := make(map[string]int)
	for _, p := range list {
		if looksLikeAgent(p, agents) && isUnreadable(table, p.Identity) {
			programs[programOf(p, agents)]++
		}
	}
	if len(programs) == 0 {
		return checkJSON{}, false
	}
	return checkJSON{"containers", "ok", containersDetail(programs)}, true
}

// containersDetail describes how many processes of each program can't be read.
func containersDetail(programs map[string]int) string {
	var parts []string
	n := 0
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		count := programs[program]
		n += count
		parts = append(parts, fmt.Sprintf("%d %s process%s", count, program, ifelse(count == 1, "", "es")))
	}
	return strings.Join(parts, ", ") + ifelse(n == 1, " in a container", " in containers") + " whose files can't be read"
}

// programOf returns the program of an agent's process, as the system names it where it
// can: "claude". Some agents run in an interpreter that does not set the name.
func programOf(p proc.Process, agents []adapters.Adapter) string {
	if d, ok := agentByProcess(p.Comm); ok {
		return d.Program
	}
	for _, a := range agents {
		if o, ok := a.(adapters.ProcessOwner); ok && o.OwnsProcess(p) {
			return string(a.Name())
		}
	}
	return p.Comm
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
