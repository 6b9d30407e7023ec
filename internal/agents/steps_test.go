//go:build agents && linux

package agents

import (
	"path/filepath"
	"time"
)

// FirstJob gives an agent its first prompt, and returns the session at work. Its turn takes four seconds.
func (t *Terminal) FirstJob(process Process, agent string) Session {
	t.s.t.Helper()
	working := t.Works(byPrompt("first job"), "first job [[delay 4]][[usage 111 22]]")
	if working.PID != process.PID || working.CWD != t.s.Project || working.Agent != agent {
		t.s.t.Errorf("working: %v of %s in %s, want pid %d of %s in %s", working, working.Agent, working.CWD, process.PID, agent, t.s.Project)
	}
	return working
}

// Permit sees a session wait for the permission to run a command, which the screen asks with a text, and the end of its turn once a key has
// allowed it.
func (t *Terminal) Permit(session who, shows, key string) {
	t.s.t.Helper()
	t.PromptUntil("need it [[bash touch asked.txt]]", shows)
	t.s.Becomes(session, time.Now(), soon, "waiting/permission")
	t.Answer(key, "Done.")
	t.s.Becomes(session, time.Now(), soon, "idle/completed")
	t.s.made(filepath.Join(t.s.Project, "asked.txt"))
}
