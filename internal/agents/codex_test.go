//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

var codexes = []Release{CodexNewest, CodexFloor}

// openCodex starts Codex in a terminal and returns when it takes prompts.
func openCodex(s *Sandbox, r Release, args ...string) *Terminal {
	s.t.Helper()
	terminal := s.Open(append([]string{s.Program(r)}, args...)...)
	terminal.Shows("? for shortcuts")
	return terminal
}

// host returns the process that runs the sessions of that terminal: the shared
// daemon, or in older versions the program in the terminal.
func host(s *Sandbox, r Release, terminal *Terminal) Process {
	s.t.Helper()
	if r == CodexFloor {
		return s.Descendant(terminal.PID(), "codex")
	}
	return s.Agent("codex", "app-server", "--managed-daemon")
}

// detachCodex starts a headless run of Codex below a wrapper. The command itself
// is one more wrapper, in JavaScript, around the agent.
func detachCodex(s *Sandbox, r Release, prompt string) (wrapper, agent Process, asked time.Time) {
	s.t.Helper()
	wrapper = s.Detached(s.Program(r), "exec", prompt)
	asked = s.Asked(prompt)
	return wrapper, s.Descendant(wrapper.PID, "codex"), asked
}

func TestCodexTurn(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		working := terminal.Works(byPrompt("first job"), "first job [[delay 4]][[usage 111 22]]")
		if agent := host(s, r, terminal); working.PID != agent.PID || working.CWD != s.Project {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
		if idle.ID != working.ID || idle.Branch != branch || idle.Model != codexModel || idle.Stale != nil {
			t.Errorf("idle: id %s (was %s), branch %q, model %q, stale %v", idle.ID, working.ID, idle.Branch, idle.Model, idle.Stale)
		}
		s.shows(byPrompt("first job"), time.Now(), soon, "all tokens", func(session Session) bool {
			return session.Tokens == Tokens{Input: 71, Output: 22, CacheRead: 40}
		})
		roll := must.Get(s.List("--all"))(t)
		if len(roll.Sessions) != 1 {
			t.Errorf("the thread that makes the title is no session:%v", roll)
		}
	})
}

func TestCodexApproval(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.Prompt("approve me [[bash touch ../asked.txt]][[esc]]")
		terminal.Shows("Would you like to run the following command?")
		s.Becomes(byPrompt("approve me"), time.Now(), soon, "waiting/permission")
		terminal.Answer("y", "Done.")
		s.Becomes(byPrompt("approve me"), time.Now(), soon, "idle", "idle/completed")
	})
}

// A plan that was proposed waits for the user, as the terminal shows, until the next turn.
func TestCodexPlan(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.Answer("BTab", "Plan mode")
		terminal.PromptUntil(`plan it [[say <proposed_plan>\n# Plan\n1. do it\n</proposed_plan>]]`, "Implement this plan?")
		waits := s.shows(byPrompt("plan it"), time.Now(), soon, "a plan that waits", func(session Session) bool {
			return session.state() == "idle/completed" && strings.Contains(session.Evidence, "a plan waits for your decision")
		})
		terminal.Dismiss("Escape", "Implement this plan?")
		terminal.Works(byID(waits.ID), "another [[delay 4]]")
		s.shows(byID(waits.ID), time.Now(), 2*soon, "no plan", func(session Session) bool {
			return session.state() == "idle/completed" && !strings.Contains(session.Evidence, "a plan waits")
		})
	})
}

// The daemon goes on with what a closed terminal began.
func TestCodexTerminalClosed(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.Works(byPrompt("lives on"), "lives on [[delay 60]]")
		daemon := host(s, r, terminal)
		program := s.Descendant(terminal.PID(), "codex")
		s.Kill(program)
		s.Stays(byPrompt("lives on"), 2*time.Second, "working")
		if after := s.Becomes(byPrompt("lives on"), time.Now(), soon, "working"); after.PID != daemon.PID {
			t.Errorf("pid %d, want the daemon's, %d", after.PID, daemon.PID)
		}
	})
}

func TestCodexTwoInOneFolder(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		first, second := openCodex(s, r), openCodex(s, r)
		first.PromptUntil("the first", "Mock answer to: the first")
		asked := second.Prompt("the second [[delay 30]]")
		working := s.Becomes(byPrompt("the second"), asked, soon, "working")
		idle := s.Becomes(byPrompt("the first"), asked, soon, "idle", "idle/completed")
		if working.ID == idle.ID || working.CWD != s.Project || idle.CWD != s.Project {
			t.Errorf("not two sessions in %s: %v in %s, %v in %s", s.Project, working, working.CWD, idle, idle.CWD)
		}
		if want := host(s, r, first).PID; idle.PID != want {
			t.Errorf("first: pid %d, want %d", idle.PID, want)
		}
		if want := host(s, r, second).PID; working.PID != want {
			t.Errorf("second: pid %d, want %d", working.PID, want)
		}
	})
}

func TestCodexWrapperKilled(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		wrapper, agent, asked := detachCodex(s, r, "lives on [[delay 60]]")
		s.Becomes(byPrompt("lives on"), asked, soon, "working")
		script := s.Agent("node", "exec", "lives on")
		for _, p := range []Process{wrapper, script} {
			s.Kill(p)
		}
		s.Stays(byPrompt("lives on"), 2*time.Second, "working")
		if after := s.Becomes(byPrompt("lives on"), time.Now(), soon, "working"); after.PID != agent.PID {
			t.Errorf("pid %d, want %d", after.PID, agent.PID)
		}
	})
}

func TestCodexRunEnds(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		_, agent, asked := detachCodex(s, r, "short [[delay 2]]")
		s.Becomes(byPrompt("short"), asked, soon, "working")
		s.Gone(agent)
		s.Becomes(byPrompt("short"), time.Now(), soon, "stopped/completed")

		_, agent, asked = detachCodex(s, r, "interrupted [[delay 60]]")
		s.Becomes(byPrompt("interrupted"), asked, soon, "working")
		s.Signal(agent, unix.SIGINT)
		s.Gone(agent)
		s.Becomes(byPrompt("interrupted"), time.Now(), soon, "stopped/interrupted")

		_, agent, asked = detachCodex(s, r, "killed [[delay 60]]")
		s.Becomes(byPrompt("killed"), asked, soon, "working")
		s.Kill(agent)
		s.Becomes(byPrompt("killed"), time.Now(), soon, "stopped/died")
	})
}

// TestCodexLimit: the server of Codex's subscriptions answers 429 with the error usage_limit_reached.
func TestCodexLimit(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.PromptUntil("break [[fail 429]]", "hit your usage limit")
		if failed := s.Becomes(byPrompt("break"), time.Now(), soon, "idle/failed"); !failed.Limited {
			t.Errorf("no limit: %v", failed)
		}
		terminal.PromptUntil("again", "Mock answer to: again")
		if goesOn := s.Becomes(byPrompt("break"), time.Now(), soon, "idle", "idle/completed"); goesOn.Limited {
			t.Errorf("still a limit: %v", goesOn)
		}
	})
}

func TestCodexFailedTurn(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.PromptUntil("break [[fail 400]]", "mock failure 400")
		s.Becomes(byPrompt("break"), time.Now(), soon, "idle/failed")
		terminal.PromptUntil("again", "Mock answer to: again")
		s.Becomes(byPrompt("break"), time.Now(), soon, "idle", "idle/completed")
	})
}
