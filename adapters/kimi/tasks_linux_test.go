package kimi

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

// TestTasks: a command in the background is told while its process is a child of the session's, and the turn that its end begins is none of the user's.
func TestTasks(t *testing.T) {
	w := newWorld(t)
	owner := w.open(time.Hour, "A=1")
	w.begin("a", "30m", "start the server")
	w.wire("a", mainAgent, finished("29m", "completed"))
	child := w.Procs.Start(scene.Spec{Comm: "bash", Exe: "/usr/bin/bash", CWD: proj, PPID: owner.PID, Args: []string{"/bin/bash", "-c", "cd '/home/dev/proj' && npm run dev"}})
	stranger := w.Procs.Start(scene.Spec{Comm: "bash", Exe: "/usr/bin/bash", CWD: proj, Args: []string{"/bin/bash", "-c", "make"}})
	task := func(name, status string, pid int) {
		w.Write(filepath.Join(w.dir("a"), "agents", mainAgent, "tasks", name+".json"),
			fmt.Sprintf(`{"taskId":%q,"status":%q,"kind":"process","command":"npm run dev","pid":%d}`, name, status, pid))
	}
	task("bash-1", "running", child.PID)
	task("bash-2", "completed", child.PID)
	task("bash-3", "running", stranger.PID)
	task("bash-4", "running", 0)
	w.Write(filepath.Join(w.dir("a"), "agents", mainAgent, "tasks", "bash-1", "output.log"), "ready")
	row := w.rows()["a"]
	if len(row.Background) != 1 || row.Background[0].What != "npm run dev" || row.Background[0].Kind != adapters.Running || !row.Background[0].TurnFollows {
		t.Errorf("%s: %+v", row.Status, row.Background)
	}
	before := row.TurnStartedAt
	w.wire("a", mainAgent, [3]string{"1m", "turn.prompt", `"input":[{"type":"text","text":"<notification>"}],"origin":{"kind":"background_task"},"turnId":1`})
	row = w.rows()["a"]
	if row.Status != adapters.Working || len(row.Background) > 0 || row.LastPrompt != "start the server" || !row.TurnStartedAt.Equal(before) {
		t.Errorf("%s, %q at %s, which was %s: %+v", row.Status, row.LastPrompt, row.TurnStartedAt, before, row.Background)
	}
}
