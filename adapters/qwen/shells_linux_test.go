package qwen

import (
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// TestShells: a command in the background is told while the process that its file names is a child of the session's process and no younger than the file. An MCP
// server is none, although it has the same variable.
func TestShells(t *testing.T) {
	l := newLater(t)
	l.Answer("started")
	child := func(parent int, ago time.Duration) proc.Identity {
		return l.Procs.Start(scene.Spec{Comm: "bash", Exe: "/bin/bash", CWD: l.CWD, Args: []string{"bash", "-c", "npm run dev"}, PPID: parent,
			Env: []string{sessionVariable + "=" + l.ID}, Started: time.Now().Add(-ago)})
	}
	status := func(session, name, status string, pid int, text string) {
		l.Write(l.Path(".qwen", "tmp", "ab12", "background-shells", session, name), fmt.Sprintf(
			`{"id":"bg_1","status":%q,"command":"npm run dev","cwd":"/home/dev/proj","updatedAt":%q,"pid":%d%s}`,
			status, time.Now().Add(-10*time.Second).UTC().Format(time.RFC3339Nano), pid, text))
	}
	runs := child(l.Process.PID, 10*time.Second)
	child(l.Process.PID, 20*time.Second) // an MCP server
	status(l.ID, "shell-bg_1.status", "running", runs.PID, "")
	l.Write(l.Path(".qwen", "tmp", "ab12", "background-shells", l.ID, "shell-bg_1.output"), "ready")
	for name, p := range map[string]proc.Identity{
		"ended":              child(l.Process.PID, 15*time.Second),
		"of another process": child(1, 15*time.Second),
		"of another session": child(l.Process.PID, 15*time.Second),
		"reused":             child(l.Process.PID, time.Second),
	} {
		session, state := l.ID, "running"
		switch name {
		case "ended":
			state = "completed"
		case "of another session":
			session = runtimeID("a")
		}
		status(session, "shell-"+name+".status", state, p.PID, "")
	}
	status(l.ID, "shell-gone.status", "running", 0, "")
	l.Write(l.Path(".qwen", "tmp", "ab12", "background-shells", l.ID, "shell-bad.status"), "{")
	l.Write(l.Path(".qwen", "tmp", "debug.log"), "a file")
	want := func(n int) {
		t.Helper()
		got := adaptertest.Discover(l, l.adapter, adapters.Query{}).Sessions[0]
		if len(got.Background) != n || got.Status != adapters.Idle {
			t.Fatalf("want %d in the background, got %s, %+v", n, got.Status, got.Background)
		}
		for _, b := range got.Background {
			if b.What != "npm run dev" || b.Kind != adapters.Running || !b.TurnFollows || b.Since.Before(time.Now().Add(-time.Minute)) {
				t.Errorf("%+v", b)
			}
		}
	}
	want(1)
	l.Procs.End(runs.PID)
	want(0)
}
