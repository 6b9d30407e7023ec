//go:build agents && linux

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

var claudes = []Release{ClaudeNewest, ClaudeFloor}

// openClaude starts Claude Code in a terminal and returns when it takes prompts.
func openClaude(s *Sandbox, r Release, id string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Program(r), "--session-id", id, "--permission-mode", "default")
	terminal.Shows("? for shortcuts")
	agent := s.Descendant(terminal.PID(), "claude")
	if err := poll(20*time.Second, func() bool { return registered(s, agent) == id }); err != nil {
		s.t.Fatalf("no registry entry of %v: %v", agent, err)
	}
	return terminal, agent
}

// detachClaude starts a headless run of Claude Code below a wrapper, and
// returns both when its turn has begun.
func detachClaude(s *Sandbox, r Release, id, prompt string) (wrapper, agent Process, asked time.Time) {
	s.t.Helper()
	wrapper = s.Detached(s.Program(r), "-p", "--session-id", id, prompt)
	asked = s.Asked(prompt)
	return wrapper, s.Descendant(wrapper.PID, "claude"), asked
}

// registryOf returns the registry entry of that process; empty while there is none.
func registryOf(s *Sandbox, p Process) string {
	s.t.Helper()
	data, _ := os.ReadFile(filepath.Join(s.Home, ".claude", "sessions", strconv.Itoa(p.PID)+".json"))
	return string(data)
}

// registered returns the session id in the registry entry of that process.
func registered(s *Sandbox, p Process) string {
	s.t.Helper()
	var entry struct {
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal([]byte(registryOf(s, p)), &entry) != nil {
		return "" // rewritten while read
	}
	return entry.SessionID
}

// cleared waits until the agent has a new session after /clear, and returns its id.
func cleared(s *Sandbox, agent Process, before string) (after string) {
	s.t.Helper()
	err := poll(20*time.Second, func() bool {
		after = registered(s, agent)
		return after != "" && after != before
	})
	if err != nil {
		s.t.Fatalf("no new session after /clear: %v", err)
	}
	return after
}

// written waits until the agent has written its prompt down, as it does a
// moment after it asked the model.
func written(s *Sandbox, id, prompt string) {
	s.t.Helper()
	err := poll(10*time.Second, func() bool { return strings.Contains(transcript(s, id), `"content":"`+prompt) })
	if err != nil {
		s.t.Fatalf("%s does not write its prompt: %v", id, err)
	}
}

// transcript returns the text of a session's transcript; empty while there is none.
func transcript(s *Sandbox, id string) string {
	s.t.Helper()
	paths := must.Get(filepath.Glob(filepath.Join(s.Home, ".claude", "projects", "*", id+".jsonl")))(s.t)
	var text strings.Builder
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		text.Write(data)
	}
	return text.String()
}

func TestClaudeTurn(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal, agent := openClaude(s, r, id)
		opened := s.Becomes(byID(id), time.Now(), soon, "idle")
		if opened.PID != agent.PID {
			t.Errorf("before the first prompt: pid %d, want %d", opened.PID, agent.PID)
		}
		working := terminal.Works(byID(id), "first job [[delay 4]][[usage 111 22]]")
		if working.PID != agent.PID || working.CWD != s.Project {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
		if idle.FirstPrompt != "first job [[delay 4]][[usage 111 22]]" || idle.Branch != branch || idle.Model == "" || idle.Stale != nil {
			t.Errorf("idle: prompt %q, branch %q, model %q, stale %v", idle.FirstPrompt, idle.Branch, idle.Model, idle.Stale)
		}
		// The answer is written down a moment after the turn is over.
		s.shows(byID(id), time.Now(), soon, "all tokens", func(session Session) bool {
			return session.Tokens == Tokens{Input: 111, Output: 22, CacheRead: 1000, CacheWrite: 7}
		})
		terminal.Leave("/exit", agent)
		ended := s.Becomes(byID(id), time.Now(), soon, "stopped/completed")
		if ended.PID != 0 {
			t.Errorf("stopped with pid %d", ended.PID)
		}
	})
}

func TestClaudePermission(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal, _ := openClaude(s, r, id)
		terminal.PromptUntil("need it [[bash touch asked.txt]]", "Do you want to proceed?")
		s.Becomes(byID(id), time.Now(), soon, "waiting/permission")
		terminal.Answer("1", "Done.")
		s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
		s.made(filepath.Join(s.Project, "asked.txt"))
	})
}

func TestClaudeQuestion(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal, _ := openClaude(s, r, id)
		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		s.Becomes(byID(id), time.Now(), soon, "waiting/question")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	})
}

func TestClaudeClear(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		before := uuid(t)
		terminal, agent := openClaude(s, r, before)
		terminal.PromptUntil("before clear", "Mock answer to: before clear")
		s.Becomes(byID(before), time.Now(), soon, "idle", "idle/completed")
		terminal.Enter("/clear")
		after := cleared(s, agent, before)
		empty := s.Becomes(byID(after), time.Now(), soon, "idle")
		if empty.PID != agent.PID {
			t.Errorf("after /clear: pid %d, want %d", empty.PID, agent.PID)
		}
		roll := must.Get(s.List())(t)
		if old, count := roll.find(byID(before)); count != 0 {
			t.Errorf("the session from before /clear is still live: %v", old)
		}
		if _, count := roll.find(byPID(agent.PID)); count != 1 {
			t.Errorf("%d live sessions have pid %d:%v", count, agent.PID, roll)
		}
		terminal.Works(byID(after), "after clear [[delay 2]]")
		terminal.Shows("Mock answer to: after clear")
		s.Becomes(byID(after), time.Now(), soon, "idle", "idle/completed")
		s.Becomes(byID(before), time.Now(), soon, "stopped/completed")
	})
}

func TestClaudeTwoInOneFolder(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		one, two := uuid(t), uuid(t)
		first, firstAgent := openClaude(s, r, one)
		second, secondAgent := openClaude(s, r, two)
		first.PromptUntil("the first", "Mock answer to: the first")
		asked := second.Prompt("the second [[delay 30]]")
		working := s.Becomes(byID(two), asked, soon, "working")
		idle := s.Becomes(byID(one), asked, soon, "idle", "idle/completed")
		if idle.PID != firstAgent.PID || working.PID != secondAgent.PID {
			t.Errorf("pids %d and %d, want %d and %d", idle.PID, working.PID, firstAgent.PID, secondAgent.PID)
		}
		if idle.CWD != s.Project || working.CWD != s.Project {
			t.Errorf("folders %q and %q, want %q", idle.CWD, working.CWD, s.Project)
		}
	})
}

func TestClaudeWrapperKilled(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		wrapper, agent, asked := detachClaude(s, r, id, "lives on [[delay 60]]")
		s.Becomes(byID(id), asked, soon, "working")
		s.Kill(wrapper)
		s.Stays(byID(id), 2*time.Second, "working")
		if after := s.Becomes(byID(id), time.Now(), soon, "working"); after.PID != agent.PID {
			t.Errorf("pid %d, want %d", after.PID, agent.PID)
		}
	})
}

func TestClaudeKilled(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, asked := detachClaude(s, r, id, "killed [[delay 60]]")
		s.Becomes(byID(id), asked, soon, "working")
		written(s, id, "killed")
		s.Kill(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/died")
		if entry := registered(s, agent); entry != id {
			t.Errorf("the registry entry did not outlive its process (%q): this test shows less than it should", entry)
		}
	})
}

func TestClaudeFailedTurn(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal, _ := openClaude(s, r, id)
		terminal.PromptUntil("break [[fail 400]]", "mock failure 400")
		s.Becomes(byID(id), time.Now(), soon, "idle/failed")
		terminal.PromptUntil("again", "Mock answer to: again")
		s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	})
}

// TestClaudeLimit: Claude Code tries an error 429 again ten times by default, for minutes.
func TestClaudeLimit(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := s.Open(append([]string{"env", "CLAUDE_CODE_MAX_RETRIES=1"}, s.Argv(r, "--session-id", id, "--permission-mode", "default")...)...)
		terminal.Shows("? for shortcuts")
		terminal.Prompt("break [[fail 429]]")
		if failed := s.Becomes(byID(id), time.Now(), time.Minute, "idle/failed"); !failed.Limited {
			t.Errorf("no limit: %v", failed)
		}
	})
}

func TestClaudeRunEnds(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, asked := detachClaude(s, r, id, "short [[delay 2]]")
		s.Becomes(byID(id), asked, soon, "working")
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/completed")
	})
}

// An interrupted run writes that down, but now and then ends before it has, older
// versions often: then its orderly end tells.
func TestClaudeInterrupted(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, asked := detachClaude(s, r, id, "interrupted [[delay 60]]")
		s.Becomes(byID(id), asked, soon, "working")
		written(s, id, "interrupted")
		s.Signal(agent, unix.SIGINT)
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/interrupted")
	})
}
