//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// innerGemini returns the inner process of a Gemini CLI, which works, below a process that was started.
func (s *Sandbox) innerGemini(pid int) Process {
	s.t.Helper()
	var found Process
	err := poll(30*time.Second, func() bool {
		isInner := func(p Process) bool { return len(p.Args) > 2 && strings.HasPrefix(p.Args[1], "--max-old-space-size") }
		parents, inner := map[int]int{}, map[int]bool{}
		rows := s.Processes()
		for _, p := range rows {
			parents[p.PID], inner[p.PID] = p.PPID, isInner(p)
		}
		for _, p := range rows {
			above := p.PPID
			for above != pid && above > 1 {
				above = parents[above]
			}
			if above == pid && isInner(p) && !inner[p.PPID] { // a child that is about to become a tool looks like its parent
				found = p
			}
		}
		return found.PID != 0
	})
	if err != nil {
		s.t.Fatalf("no inner process below %d: %v: %v", pid, err, s.Processes())
	}
	return found
}

func openGemini(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.OpenInTmux(s.Argv(r, args...)...)
	terminal.Shows("Type your message")
	return terminal, s.innerGemini(terminal.PID())
}

// Gemini CLI through start, work, permission, question, interruption, resume and kill. Its terminal's title shows what it waits for.
func TestGemini(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openGemini(s, r)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "gemini" {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if want := (Tokens{Input: 71, Output: 22, CacheRead: 40}); idle.Tokens != want || idle.Model == "" {
			t.Errorf("idle: %+v, model %q, want %+v", idle.Tokens, idle.Model, want)
		}

		terminal.Prompt("need it [[bash touch asked.txt]]")
		terminal.Shows("Allow execution")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/permission")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if _, err := os.Stat(filepath.Join(s.Project, "asked.txt")); err != nil {
			t.Error("the permitted command did not run:", err)
		}

		terminal.Prompt("ask me [[ask]]")
		terminal.Shows("Which colour?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/question")
		terminal.Dismiss("Enter", "Enter to select")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.Prompt("run it [[bash sleep 7.5]]")
		terminal.Shows("Allow execution")
		terminal.Dismiss("Enter", "Allow execution")
		command := s.Agent("sleep", "7.5")
		s.Becomes(byID(working.ID), time.Now(), soon, "working")
		s.Gone(command)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(byID(working.ID), asked, soon, "working")
		terminal.Dismiss("Escape", "esc to cancel")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		terminal.Leave("/quit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/interrupted")

		terminal, agent = openGemini(s, r, "--resume", working.ID)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		asked = terminal.Prompt("once more [[delay 300]]")
		if again := s.Becomes(byID(working.ID), asked, soon, "working"); again.PID != agent.PID {
			t.Errorf("pid %d, want %d", again.PID, agent.PID)
		}
		s.Signal(agent, unix.SIGKILL)
		s.Gone(agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died")
	})
}

// Two in one folder: a terminal with a sub-agent, and a run that is killed. No other run begins after that: 0.61.0 would remove the
// terminal's session, whose file lost its header when the first run began.
func TestGeminiTogether(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openGemini(s, r, "--approval-mode", "yolo")
		one := s.Detached(s.Argv(r, "-p", "in the background [[delay 300]]")...)
		asked := s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		killed := s.innerGemini(one.PID)
		if alone.PID != killed.PID {
			t.Errorf("pid %d, want %d", alone.PID, killed.PID)
		}
		asked = first.Prompt("spawn [[agent child job ((delay 20))]]")
		parent := s.Becomes(byPrompt("spawn"), asked, soon, "working")
		if parent.PID != firstAgent.PID {
			t.Errorf("pid %d, want %d", parent.PID, firstAgent.PID)
		}
		child := s.Becomes(byPrompt("child job"), asked, soon, "working")
		if child.Parent != parent.ID || child.CWD != s.Project {
			t.Errorf("%+v, want a child of %s", child, parent.ID)
		}
		s.Becomes(byID(alone.ID), time.Now(), soon, "working")
		s.Signal(killed, unix.SIGKILL)
		s.Gone(killed)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
		first.Shows("Done.")
		s.Becomes(byID(parent.ID), time.Now(), soon, "idle/completed")
	})
}

// A launch that Rollcall can answer: allowed, denied, prompted again, interrupted and stopped.
func TestAnswerGeminiLaunched(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), GeminiNewest)
	record := l.Launch("allow me [[bash touch allowed.txt]]", "--answerable")
	s, id := l.Sandbox, record.Session
	first := s.asks("touch allowed.txt")
	if !first.CanAllow || !first.CanDeny || first.Session.ID != id {
		t.Errorf("%+v", first)
	}
	s.answered(first, "--allow")
	s.made(filepath.Join(s.Project, "allowed.txt"))
	s.stale(first)
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "deny me [[bash touch denied.txt]]")
	s.answered(s.asks("touch denied.txt"), "--deny")
	s.notMade(filepath.Join(s.Project, "denied.txt"))
	s.Becomes(byID(id), time.Now(), soon, "idle/completed", "idle/interrupted")
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Asked("long job")
	s.Becomes(byID(id), time.Now(), soon, "working")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed", "idle/interrupted")
	l.rollcallStops(record)
}

// A launch in the background: its id is chosen, it fails with the agent's own words, and its end is told once.
func TestLaunchGemini(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), GeminiNewest)
	record := l.Launch("short job [[delay 2]]")
	l.Recorded(record.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
	l.Becomes(byID(record.Session), time.Now(), soon, "stopped/completed")
	failed := l.Launch("break it [[fail 400]]")
	l.Recorded(failed.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
	output, err := os.ReadFile(l.state("logs", failed.ID+".log"))
	if err != nil || !strings.Contains(string(output), `"status":"error"`) || !strings.Contains(string(output), "mock failure 400") {
		t.Errorf("%v: %s", err, output)
	}
	t.Logf("%s", output)
	l.Becomes(byID(failed.Session), time.Now(), soon, "stopped")
}
