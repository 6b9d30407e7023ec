package launch

import (
	"fmt"
	"path/filepath"
	"strings"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store/lock"
)

// OccupiedError reports that a live session works in a folder, in one above it or in one below it.
type OccupiedError struct {
	Path    string
	Session app.Session
}

// topicWidth is the width of the topic of a session in an error, in cells.
const topicWidth = 60

func (e *OccupiedError) Error() string {
	s := &e.Session
	who := fmt.Sprintf("%s session %s", present.AgentName(s.Agent), present.Line(present.ShortID(&s.Session)))
	if topic := present.Topic(present.Brief(s.Session).Topic); topic != "" {
		who = fmt.Sprintf("“%s” (%s", present.Cut(topic, topicWidth), present.AgentName(s.Agent))
	} else if s.IsProcess() {
		who = fmt.Sprintf("%s process %d", present.AgentName(s.Agent), s.Process.PID)
	}
	if strings.HasPrefix(who, "“") {
		who += ", " + present.Status(s.Session) + ")"
	} else {
		who += " (" + present.Status(s.Session) + ")"
	}
	if s.CWD == e.Path {
		return fmt.Sprintf("%s is in use: %s works here", lock.Shown(e.Path), who)
	}
	return fmt.Sprintf("%s overlaps %s, which is in use: %s works there", lock.Shown(e.Path), lock.Shown(s.CWD), who)
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
			// An agent whose folder was renamed works in that folder, and may write to its former name.
			for _, dir := range []string{s.CWD, s.FormerCWD} {
				if dir != "" && overlaps(dir, path) {
					x := *s
					x.CWD = dir
					return &OccupiedError{Path: path, Session: x}
				}
			}
		}
		return nil
	}
}

// overlaps reports whether a folder, of which symbolic links are followed, overlaps one that has none in its path.
func overlaps(dir, path string) bool {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return lock.Overlap(dir, path)
}
