//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var openCodes = []Release{OpenCodeNewest, OpenCodeFloor}

// apart is how long after each other a user opens two agents in one folder.
const apart = 5 * time.Second

// openOpenCode starts OpenCode in a terminal and returns when it takes prompts.
func openOpenCode(s *Sandbox, r Release) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r)...)
	terminal.Shows("Ask anything")
	return terminal, s.Descendant(terminal.PID(), "opencode")
}

// detachOpenCode starts a headless run of OpenCode below a wrapper, and returns
// both when its turn has begun.
func detachOpenCode(s *Sandbox, r Release, prompt string) (wrapper, agent Process, asked time.Time) {
	s.t.Helper()
	wrapper = s.Detached(s.Argv(r, "run", prompt)...)
	asked = s.Asked(prompt)
	return wrapper, s.Descendant(wrapper.PID, "opencode"), asked
}

func TestOpenCodeTurn(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openOpenCode(s, r)
		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
		if idle.ID != working.ID || idle.Model != mockProvider+"/"+mockModel || idle.Stale != nil {
			t.Errorf("idle: id %s (was %s), model %q, stale %v", idle.ID, working.ID, idle.Model, idle.Stale)
		}
		s.shows(byPrompt("first job"), time.Now(), soon, "all tokens", func(session Session) bool {
			return session.Tokens.Input == 71 && session.Tokens.CacheRead == 40
		})
		terminal.Enter("/exit")
		s.Gone(agent)
		ended := s.Becomes(byPrompt("first job"), time.Now(), soon, "stopped/completed")
		if ended.PID != 0 {
			t.Errorf("stopped with pid %d", ended.PID)
		}
	})
}

func TestOpenCodePermission(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openOpenCode(s, r)
		terminal.Prompt("need it [[bash touch asked.txt]]")
		terminal.Shows("Permission required")
		s.Becomes(byPrompt("need it"), time.Now(), soon, "waiting/permission")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byPrompt("need it"), time.Now(), soon, "idle", "idle/completed")
		if _, err := os.Stat(filepath.Join(s.Project, "asked.txt")); err != nil {
			t.Error("the permitted command did not run:", err)
		}
	})
}

// A command that runs is no wait for the user, however long it takes.
func TestOpenCodeCommandRuns(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openOpenCode(s, r)
		terminal.Prompt("run it [[bash sleep 6.5]]")
		command := s.Agent("sleep", "6.5")
		s.Becomes(byPrompt("run it"), time.Now(), soon, "working")
		s.Stays(byPrompt("run it"), 3*time.Second, "working")
		s.Gone(command)
		terminal.Shows("Done.")
		s.Becomes(byPrompt("run it"), time.Now(), soon, "idle", "idle/completed")
	})
}

func TestOpenCodeQuestion(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openOpenCode(s, r)
		terminal.Prompt("ask me [[ask]]")
		terminal.Shows("Which colour?")
		s.Becomes(byPrompt("ask me"), time.Now(), soon, "waiting/question")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byPrompt("ask me"), time.Now(), soon, "idle", "idle/completed")
	})
}

func TestOpenCodeTwoInOneFolder(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openOpenCode(s, r)
		time.Sleep(apart)
		second, secondAgent := openOpenCode(s, r)
		first.Prompt("the first")
		first.Shows("Mock answer to: the first")
		asked := second.Prompt("the second [[delay 30]]")
		working := s.Becomes(byPrompt("the second"), asked, soon, "working")
		idle := s.Becomes(byPrompt("the first"), asked, soon, "idle", "idle/completed")
		if idle.PID != firstAgent.PID || working.PID != secondAgent.PID {
			t.Errorf("pids %d and %d, want %d and %d", idle.PID, working.PID, firstAgent.PID, secondAgent.PID)
		}
		s.Signal(secondAgent, unix.SIGKILL)
		s.Gone(secondAgent)
		s.Becomes(byPrompt("the second"), time.Now(), soon, "stopped/died")
		s.Becomes(byPrompt("the first"), time.Now(), soon, "idle", "idle/completed")
	})
}

func TestOpenCodeKilled(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		_, agent, asked := detachOpenCode(s, r, "killed [[delay 60]]")
		s.Becomes(byPrompt("killed"), asked, soon, "working")
		s.Signal(agent, unix.SIGKILL)
		s.Gone(agent)
		s.Becomes(byPrompt("killed"), time.Now(), soon, "stopped/died")
	})
}

func TestOpenCodeWrapperKilled(t *testing.T) {
	nightly(t)
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		wrapper, agent, asked := detachOpenCode(s, r, "lives on [[delay 60]]")
		s.Becomes(byPrompt("lives on"), asked, soon, "working")
		s.Signal(wrapper, unix.SIGKILL)
		s.Gone(wrapper)
		s.Stays(byPrompt("lives on"), 2*time.Second, "working")
		if after := s.Becomes(byPrompt("lives on"), time.Now(), soon, "working"); after.PID != agent.PID {
			t.Errorf("pid %d, want %d", after.PID, agent.PID)
		}
	})
}

func TestOpenCodeRunEnds(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		_, agent, asked := detachOpenCode(s, r, "short [[delay 2]]")
		s.Becomes(byPrompt("short"), asked, soon, "working")
		s.Gone(agent)
		s.Becomes(byPrompt("short"), time.Now(), soon, "stopped/completed")
	})
}

func TestOpenCodeFailedTurn(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openOpenCode(s, r)
		asked := terminal.Prompt("retry [[fail]]")
		terminal.Shows("retrying")
		s.Becomes(byPrompt("retry"), asked, soon, "working")
		terminal.Dismiss("Escape", "retrying")
		s.Becomes(byPrompt("retry"), time.Now(), soon, "idle/interrupted")
		terminal.Prompt("break [[fail 400]]")
		terminal.Shows("mock failure 400")
		s.Becomes(byPrompt("retry"), time.Now(), soon, "idle/failed")
		terminal.Prompt("again")
		terminal.Shows("Mock answer to: again")
		s.Becomes(byPrompt("retry"), time.Now(), soon, "idle", "idle/completed")
	})
}
