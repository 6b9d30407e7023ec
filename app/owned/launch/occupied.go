package launch

import (
	"fmt"
	"path/filepath"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store/lock"
)

// OccupiedError reports that a live session works in a folder, in one above it or in one below it.
type OccupiedError struct {
	Path    string
	Session app.Session
}

func (e *OccupiedError) Error() string {
	s := &e.Session
	who := fmt.Sprintf("%s session %s (%s)", present.AgentName(s.Agent), present.Line(s.ID), present.Status(s.Session))
	if s.IsProcess() {
		who = fmt.Sprintf("%s process %d (%s)", present.AgentName(s.Agent), s.Process.PID, present.Status(s.Session))
	}
	if s.CWD == e.Path {
		return fmt.Sprintf("%s is in use by %s", lock.Shown(e.Path), who)
	}
	return fmt.Sprintf("%s overlaps %s, which is in use by %s", lock.Shown(e.Path), lock.Shown(s.CWD), who)
}

// Occupied returns a check for Launches.Start. The check fails with *OccupiedError for a folder that overlaps the folder
// of a live session of the snapshot, also of an agent that the settings leave out. It ignores the session with the id
// except, which is about to be resumed.
func Occupied(snap *app.Snapshot, except string) func(path string) error {
	return func(path string) error {
		for s := range snap.Known() {
			if !s.Live() || !s.HasLocalFolder() || s.Parent != "" || s.ID == except {
				continue
			}
			dir := s.CWD
			if resolved, err := filepath.EvalSymlinks(dir); err == nil {
				dir = resolved
			}
			if lock.Overlap(dir, path) {
				return &OccupiedError{Path: path, Session: *s}
			}
		}
		return nil
	}
}
