package codex

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// begunNow is a rollout whose one turn begins at this moment, with all its records.
func begunNow(version string) *script {
	s := scriptAt(time.Now().UTC(), threadA, version).atOnce()
	return s.start("a").prompt("x")
}

// A thread that is reopened right after its process was killed in mid-turn is
// idle: the turn that was left open is not the new process's.
func TestReopenedAtOnce(t *testing.T) {
	for _, version := range []string{"0.137.0", "0.142.5"} {
		t.Run(version, func(t *testing.T) {
			home := home(t)
			a := atNow(home)
			killed := startCodex(t, "codex", nil)
			killed.do("open", write(t, rolloutPath(home, threadA), begunNow(version).text()))
			want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Working, "", killed.cmd.Process.Pid)
			killed.kill()

			p := startCodex(t, "codex", nil, "resume", threadA).do("open", rolloutPath(home, threadA))
			want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Idle, adapters.Died, p.cmd.Process.Pid)
			p.kill()
			want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Stopped, adapters.Died, 0)
		})
	}
}

// An open turn is that of the process which started last before it, in whatever
// order the table lists those that have the thread open.
func TestTurnHost(t *testing.T) {
	path := rolloutPath("/home/dev", threadA)
	at := func(pid int, after time.Duration, files ...string) *host {
		h := &host{Process: proc.Process{Identity: proc.Identity{PID: pid}, Started: began.Add(after)}}
		h.sortFiles(files)
		return h
	}
	first := at(1, 0, path)
	second := at(2, time.Hour, path)
	third := at(3, 3*time.Hour, path)
	other := at(4, 90*time.Minute, "/home/dev/else")
	for _, hosts := range [][]*host{{first, second, third, other}, {third, other, second, first}} {
		c := agentProcesses{hosts: hosts}
		for begun, want := range map[time.Duration]*host{time.Minute: first, 2 * time.Hour: second, 4 * time.Hour: third} {
			if got := c.turnHost(path, threadA, began.Add(begun), c.hostOf(path, threadA, 0)); got != want {
				t.Errorf("turn begun after %v: process %d, want %d", begun, got.PID, want.PID)
			}
		}
	}
}
