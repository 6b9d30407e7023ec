//go:build agents && linux

package agents

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// What one OpenCode goes through: its start takes longer than all of its turns.
func TestOpenCodeStates(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openOpenCode(s, r)
		working := terminal.FirstJob(agent, "opencode")
		terminal.Shows("Mock answer to: first job")
		session := byID(working.ID)
		idle := s.Becomes(session, time.Now(), soon, "idle", "idle/completed")
		if idle.Model != mockProvider+"/"+mockModel || idle.Stale != nil {
			t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
		}
		s.shows(session, time.Now(), soon, "all tokens", func(session Session) bool {
			return session.Tokens.Input == 71 && session.Tokens.CacheRead == 40
		})
		openCodeCommands(t, s, terminal, session)
		openCodeFailures(s, terminal, session)
		terminal.Leave("/exit", agent)
		if ended := s.Becomes(session, time.Now(), soon, "stopped/completed"); ended.PID != 0 {
			t.Errorf("stopped with pid %d", ended.PID)
		}
	})
}

// openCodeCommands sees a command that asks first and can't be answered from here, one that runs, which is no wait for the user however long it
// takes, and a question.
func openCodeCommands(t *testing.T, s *Sandbox, terminal *Terminal, session who) {
	t.Helper()
	terminal.PromptUntil("need it [[bash touch asked.txt]]", "Permission required")
	waiting := s.Becomes(session, time.Now(), soon, "waiting/permission")
	output, err := s.Command(headlessBinary, "answer", waiting.ID, "--request", "x", "--allow").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 13 || !strings.Contains(string(output), "it can't be answered from here") {
		t.Errorf("%v: %s", err, output)
	}
	s.notMade(filepath.Join(s.Project, "asked.txt"))
	terminal.Dismiss("Enter", "Permission required")
	s.made(filepath.Join(s.Project, "asked.txt"))
	s.Becomes(session, time.Now(), soon, "idle", "idle/completed")

	terminal.Prompt("run it [[bash sleep 6.5]]")
	command := s.Agent("sleep", "6.5")
	s.Becomes(session, time.Now(), soon, "working")
	s.Stays(session, 3*time.Second, "working")
	s.Gone(command)
	s.Becomes(session, time.Now(), soon, "idle", "idle/completed")

	terminal.PromptUntil("ask me [[ask]]", "Which colour?")
	s.Becomes(session, time.Now(), soon, "waiting/question")
	terminal.Dismiss("Enter", "esc dismiss")
	s.Becomes(session, time.Now(), soon, "idle", "idle/completed")
}

// openCodeFailures sees a turn that is tried again, one that fails, and one after them.
func openCodeFailures(s *Sandbox, terminal *Terminal, session who) {
	s.t.Helper()
	asked := terminal.PromptUntil("retry [[fail]]", "retrying")
	s.Becomes(session, asked, soon, "working")
	terminal.Dismiss("Escape", "retrying")
	s.Becomes(session, time.Now(), soon, "idle/interrupted")
	terminal.PromptUntil("break [[fail 400]]", "mock failure 400")
	s.Becomes(session, time.Now(), soon, "idle/failed")
	terminal.PromptUntil("again", "Mock answer to: again")
	s.Becomes(session, time.Now(), soon, "idle", "idle/completed")
}

func TestOpenCodeTwoInOneFolder(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openOpenCode(s, r)
		time.Sleep(apart)
		second, secondAgent := openOpenCode(s, r)
		first.PromptUntil("the first", "Mock answer to: the first")
		asked := second.Prompt("the second [[delay 30]]")
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

func TestOpenCodeKilled(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		_, agent, asked := detachOpenCode(s, r, "killed [[delay 60]]")
		s.Becomes(byPrompt("killed"), asked, soon, "working")
		s.Kill(agent)
		s.Becomes(byPrompt("killed"), time.Now(), soon, "stopped/died")
	})
}

func TestOpenCodeWrapperKilled(t *testing.T) {
	nightly(t)
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		wrapper, agent, asked := detachOpenCode(s, r, "lives on [[delay 60]]")
		s.Becomes(byPrompt("lives on"), asked, soon, "working")
		s.Kill(wrapper)
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
