package opencode

import (
	"path/filepath"
	"slices"

	"rollcall/adapters/internal/kit"
)

// floor is the first version that keeps its sessions in its database alone, and records which process runs a session.
var floor = kit.Floor{Title: "OpenCode", Version: "1.17"}

// doubtOld marks the sessions that processes of older versions may run: those of their folders that were written since they began.
func (l *links) doubtOld(sessions map[string]*facts, claims map[string]claim) {
	for id, f := range sessions {
		if claims[id].host != nil || claims[id].doubt != "" {
			continue
		}
		may := slices.DeleteFunc(slices.Clone(l.old), func(h *host) bool {
			return !h.at(f.directory) || f.activity.time().Add(slack).Before(h.Started)
		})
		if len(may) > 0 {
			claims[id] = claim{may: may, doubt: floor.Reason("") + ": " + pids(may) + " could run it"}
		}
	}
}

// filesOnly is how doctor names a home whose sessions only an older version can read.
const filesOnly = "folder of sessions in JSON files of OpenCode before 1.2, which are not read: OpenCode moves them into its database when it is updated"

// hasFilesOnly reports whether a home has sessions in files, and no database.
func (r *root) hasFilesOnly() bool {
	return len(r.databases) == 0 && kit.MayExist(filepath.Join(r.path, "storage", "session"))
}
