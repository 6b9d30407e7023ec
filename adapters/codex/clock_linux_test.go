package codex

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

// TestClockSetForwardInResumed: a thread that a terminal has resumed works while the clock is set, and with it the start of its process. Codex 0.171.0
// keeps nothing open that shows its start, and npm's wrapper does.
func TestClockSetForwardInResumed(t *testing.T) {
	w := scene.New(t)
	rollout, env := rolloutPath(w.Home, threadA), []string{"HOME=" + w.Home}
	wrapper := w.Procs.Start(scene.Spec{Comm: "node", Exe: "/usr/bin/node", CWD: "/home/dev/proj", Args: []string{"node", "/opt/codex.js", "resume", threadA}, Env: env})
	scene.OwnPipe(t, filepath.Join(w.Procs.Root(), strconv.Itoa(wrapper.PID)), time.Now().Add(-time.Second)) // records have milliseconds
	p := w.Procs.Start(scene.Spec{PPID: wrapper.PID, Comm: "codex", Exe: "/opt/codex", CWD: "/home/dev/proj", Args: []string{"codex", "resume", threadA}, Env: env,
		Files: []string{rollout}})
	write(t, rollout, begunNow("0.171.0").text())
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Procs.SetClock(time.Hour), Now: func() time.Time { return time.Now().Add(time.Hour) }})
	want(t, look(t, a, w.Home, adapters.Query{})[threadA], adapters.Working, "", p.PID)
}
