package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// showMovedCWD shows x in the folder in which its process p is, if that folder was renamed since the process began: the agent goes on to record its former
// name. A process that hosts other sessions may be in a folder of none of them.
func (n *liveness) showMovedCWD(x *Session, p *proc.Process) {
	if x.Shared || x.Parent != "" || !x.HasLocalFolder() {
		return
	}
	now, err := n.table.CWD(p.Identity)
	if err != nil || now == x.CWD {
		return
	}
	env, err := n.table.Env(p.Identity)
	if err != nil {
		return
	}
	for _, former := range adapters.FormerFolders(env, now, p.Started) {
		rest, isBelow := strings.CutPrefix(x.CWD+string(filepath.Separator), former+string(filepath.Separator))
		moved := filepath.Join(now, rest)
		if !isBelow || contains(now, former) || !isFolder(moved) {
			continue
		}
		x.Evidence += fmt.Sprintf("; its folder was %s before it was renamed", former)
		x.CWD, x.FormerCWD = moved, x.CWD
		return
	}
}

// contains reports whether a path is that of a folder or of something below it.
func contains(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

func isFolder(path string) bool {
	if !bounded.Answers(path) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
