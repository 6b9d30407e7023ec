//go:build agents && linux

package agents

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var pis = []Release{PiNewest, PiFloor}

// openPi starts Pi in a terminal and returns when it takes prompts.
func openPi(s *Sandbox, r Release) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r)...)
	terminal.Shows("/128k")
	return terminal, s.Descendant(terminal.PID(), "pi")
}

// detachPi starts a headless run of Pi below a wrapper, and returns both when its
// turn has begun.
func detachPi(s *Sandbox, r Release, prompt string, flags ...string) (wrapper, agent Process, asked time.Time) {
	s.t.Helper()
	wrapper = s.Detached(s.Argv(r, slices.Concat([]string{"-p"}, flags, []string{prompt})...)...)
	asked = s.Asked(prompt)
	return wrapper, s.Descendant(wrapper.PID, "pi"), asked
}

// piWrote waits until Pi has written that many sessions down.
func piWrote(s *Sandbox, sessions int) {
	s.t.Helper()
	err := poll(10*time.Second, func() bool {
		paths, err := filepath.Glob(filepath.Join(s.Home, ".pi", "agent", "sessions", "*", "*.jsonl"))
		return err == nil && len(paths) == sessions
	})
	if err != nil {
		s.t.Fatalf("not %d sessions in the folder: %v", sessions, err)
	}
}

func TestPiTurn(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openPi(s, r)
		want := Tokens{Input: 71, Output: 22, CacheRead: 40}
		if r == PiFloor { // its first turn is in no file until the first answer
			asked := terminal.Prompt("first job, unseen [[delay 4]]")
			s.Becomes(byPID(agent.PID), asked, soon, "unknown")
			terminal.Shows("Mock answer to: first job, unseen")
			want = Tokens{Input: 71 + 60, Output: 22 + 20, CacheRead: 40 + 40}
		}
		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job [[delay")
		idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
		if idle.ID != working.ID || idle.Model != mockProvider+"/"+mockModel || idle.Stale != nil {
			t.Errorf("idle: id %s (was %s), model %q, stale %v", idle.ID, working.ID, idle.Model, idle.Stale)
		}
		s.shows(byPrompt("first job"), time.Now(), soon, "all tokens", func(session Session) bool { return session.Tokens == want })
		terminal.Leave("/quit", agent)
		ended := s.Becomes(byPrompt("first job"), time.Now(), soon, "stopped/completed")
		if ended.PID != 0 {
			t.Errorf("stopped with pid %d", ended.PID)
		}
	})
}

func TestPiTwoInOneFolder(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openPi(s, r)
		time.Sleep(apart)
		second, secondAgent := openPi(s, r)
		first.PromptUntil("the first", "Mock answer to: the first")
		second.PromptUntil("the second", "Mock answer to: the second")
		asked := second.Prompt("more of it [[delay 30]]")
		working := s.Becomes(byPrompt("the second"), asked, soon, "working")
		idle := s.Becomes(byPrompt("the first"), asked, soon, "idle", "idle/completed")
		if idle.PID != firstAgent.PID || working.PID != secondAgent.PID {
			t.Errorf("pids %d and %d, want %d and %d", idle.PID, working.PID, firstAgent.PID, secondAgent.PID)
		}
		s.Kill(secondAgent)
		s.Becomes(byPrompt("the second"), time.Now(), soon, "stopped/died")
		s.Becomes(byPrompt("the first"), time.Now(), soon, "idle", "idle/completed")
	})
}

// A command of the agent's runs.
func TestPiCommandRuns(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openPi(s, r)
		terminal.Prompt("run it [[bash sleep 6.5]]")
		command := s.Agent("sleep", "6.5")
		running := s.Becomes(byPrompt("run it"), time.Now(), soon, "working")
		if running.PID != agent.PID {
			t.Errorf("pid %d, want %d", running.PID, agent.PID)
		}
		s.Stays(byPrompt("run it"), 2*time.Second, "working")
		s.Gone(command)
		terminal.Shows("Done.")
		s.Becomes(byPrompt("run it"), time.Now(), soon, "idle", "idle/completed")
	})
}

func TestPiKilled(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		complete(s, r, "-p", "killed later")
		piWrote(s, 1)
		_, agent, asked := detachPi(s, r, "killed now [[delay 60]]", "-c")
		s.Becomes(byPrompt("killed later"), asked, soon, "working")
		s.Kill(agent)
		s.Becomes(byPrompt("killed later"), time.Now(), soon, "stopped/died")
	})
}

func TestPiWrapperKilled(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		complete(s, r, "-p", "lives on")
		piWrote(s, 1)
		wrapper, agent, asked := detachPi(s, r, "and on [[delay 60]]", "-c")
		s.Becomes(byPrompt("lives on"), asked, soon, "working")
		s.Kill(wrapper)
		s.Stays(byPrompt("lives on"), 2*time.Second, "working")
		if after := s.Becomes(byPrompt("lives on"), time.Now(), soon, "working"); after.PID != agent.PID {
			t.Errorf("pid %d, want %d", after.PID, agent.PID)
		}
	})
}

func TestPiRunEnds(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		_, agent, asked := detachPi(s, r, "short [[delay 2]]")
		if r == PiNewest {
			s.Becomes(byPrompt("short"), asked, soon, "working")
		}
		s.Gone(agent)
		s.Becomes(byPrompt("short"), time.Now(), soon, "stopped/completed")
		if r == PiFloor { // a first turn that is ended is in no file
			return
		}
		_, agent, asked = detachPi(s, r, "terminated [[delay 60]]")
		s.Becomes(byPrompt("terminated"), asked, soon, "working")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byPrompt("terminated"), time.Now(), soon, "stopped/interrupted")
	})
}

// Pi tries again by itself what the model's server failed at, which is work, and
// gives up in the end, which is a failure.
func TestPiFailedTurn(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openPi(s, r)
		terminal.PromptUntil("before", "Mock answer to: before")
		asked := terminal.PromptUntil("break [[fail]]", "Retrying (1/2)", "Retrying")
		s.Becomes(byPrompt("before"), asked, soon, "working")
		terminal.Shows("after 2 attempts", "failed after 2")
		s.Becomes(byPrompt("before"), time.Now(), soon, "idle/failed")
		terminal.PromptUntil("again", "Mock answer to: again")
		s.Becomes(byPrompt("before"), time.Now(), soon, "idle", "idle/completed")
	})
}

// A run that its provider refuses until Pi gives up has reached a limit.
func TestPiLimit(t *testing.T) {
	nightly(t)
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		began := time.Now()
		if output, err := s.run(r, "-p", "break [[fail 429]]").CombinedOutput(); err == nil {
			t.Fatalf("the run succeeds:\n%s", output)
		}
		if failed := s.Becomes(byPrompt("break"), began, soon, "stopped/failed"); !failed.Limited {
			t.Errorf("no limit: %v", failed)
		}
	})
}
