//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/adapters/grok"
	"rollcall/app"
	"rollcall/internal/must"
)

// openGrok starts Grok Build in a terminal and returns when it takes prompts, with its process.
func openGrok(s *Sandbox, r Release, flags ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, append([]string{"--permission-mode", "default"}, flags...)...)...)
	terminal.Shows("❯")
	agent := s.at(terminal.PID())
	s.Becomes(byPID(agent.PID), time.Now(), 2*soon, "idle", "idle/interrupted", "idle/completed", "idle/died")
	return terminal, agent
}

// at returns the process with a pid.
func (s *Sandbox) at(pid int) Process {
	s.t.Helper()
	for _, p := range s.Processes() {
		if p.PID == pid {
			return p
		}
	}
	s.t.Fatalf("no process %d", pid)
	return Process{}
}

// Grok Build through each state, each part in a sandbox of its own.
func TestGrok(t *testing.T) {
	for name, part := range map[string]func(*testing.T, *Sandbox, Release){
		"turns": grokTurns, "sub-agent": grokSubAgent, "interrupted": grokInterrupted, "killed": grokKilled, "resumed twice": grokTwice, "new": grokNew, "failed": grokFailed,
		"launched": grokLaunched} {
		t.Run(name, func(t *testing.T) { each(t, []Release{GrokNewest}, part) })
	}
}

// grokTurns is a session at work, that runs a command, asks for a permission and asks a question.
func grokTurns(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openGrok(s, r)
	working := terminal.Works(byPrompt("first job"), "first job [[delay 4]][[usage 111 22]]")
	if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "grok" || working.Branch != branch {
		t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
	}
	terminal.Shows("Mock answer to")
	one := byID(working.ID)
	s.Becomes(one, time.Now(), soon, "idle/completed")
	idle := s.shows(one, time.Now(), soon, "all tokens", func(x Session) bool { // which it records after the end, in another file
		return x.Tokens == Tokens{Input: 71, Output: 22, CacheRead: 40}
	})
	if idle.Model != mockModel || idle.Stale != nil {
		t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
	}
	terminal.Prompt("run it [[bash sleep 6]]")
	command := s.Agent("sleep", "6")
	if running := s.Becomes(one, time.Now(), soon, "working"); running.Doing != "sleep 6" {
		t.Errorf("doing %q", running.Doing)
	}
	s.Gone(command)
	s.Becomes(one, time.Now(), soon, "idle/completed")
	for _, allow := range []bool{true, false} {
		file := filepath.Join(s.Project, "asked.txt")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		terminal.Prompt(map[bool]string{true: "need it [[bash rm -rf asked.txt]]", false: "deny it [[bash rm -rf asked.txt]]"}[allow])
		if waiting := s.Becomes(one, time.Now(), soon, "waiting/permission"); !strings.Contains(waiting.Evidence, "rm -rf asked.txt") {
			t.Errorf("evidence: %s", waiting.Evidence)
		}
		if allow {
			terminal.Choose("Tab", "(●) Yes, proceed")
			terminal.Press("Enter")
			s.Becomes(one, time.Now(), soon, "idle/completed")
		} else {
			terminal.Shows("No, reject")
			terminal.Dismiss("C-c", "No, reject")
			s.Becomes(one, time.Now(), soon, "idle/interrupted")
		}
		if _, err := os.Stat(file); (err != nil) != allow {
			t.Errorf("allowed %v: %v", allow, err)
		}
	}
	terminal.Prompt("ask me [[ask]]")
	s.Becomes(one, time.Now(), soon, "waiting/question")
	terminal.Shows("Enter:submit")
	terminal.Dismiss("Enter", "Enter:submit")
	s.Becomes(one, time.Now(), soon, "idle/completed")
	terminal.Leave("/quit", agent)
	s.Becomes(one, time.Now(), soon, "stopped/completed")
}

// grokSubAgent is a sub-agent that asks for a permission, in the terminal of the session that started it.
func grokSubAgent(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openGrok(s, r)
	asked := terminal.Prompt("delegate [[agent child work ((bash rm -rf kk))]]")
	parent := s.Becomes(byPrompt("delegate"), asked, soon, "waiting/permission") // to start it
	terminal.Choose("Tab", "(●) Yes, send once")
	terminal.Press("Enter")
	s.Asked("child work")
	child := s.Becomes(func(x Session) bool { return x.Parent == parent.ID }, time.Now(), soon, "waiting/permission")
	if child.PID != agent.PID {
		t.Errorf("the sub-agent: %v, want pid %d", child, agent.PID)
	}
	s.Becomes(byID(parent.ID), time.Now(), soon, "waiting/permission")
	terminal.Choose("Tab", "(●) Yes, proceed")
	terminal.Press("Enter")
	s.Becomes(byID(parent.ID), time.Now(), soon, "idle/completed")
	s.Becomes(byID(child.ID), time.Now(), soon, "stopped/completed")
}

// grokInterrupted is a session that the user interrupts, whose process is ended in its turn, and that is resumed.
func grokInterrupted(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openGrok(s, r)
	first := terminal.Works(byPrompt("never ends"), "never ends [[delay 300]]")
	one := byID(first.ID)
	terminal.Dismiss("C-c", "[stop]")
	s.Becomes(one, time.Now(), soon, "idle") // before the first word of the answer, the prompt is taken back
	terminal.Press("C-u")
	terminal.Prompt("a command [[bash sleep 300]]")
	s.Agent("sleep", "300")
	terminal.Dismiss("C-c", "[stop]")
	s.Becomes(one, time.Now(), soon, "idle/interrupted")
	terminal.Works(one, "the second [[delay 300]]")
	s.Signal(agent, unix.SIGTERM)
	s.Gone(agent)
	s.Becomes(one, time.Now(), soon, "stopped/died")
	again, agent := openGrok(s, r, "--resume", first.ID)
	s.Becomes(one, time.Now(), soon, "idle/died")
	if session := again.Works(one, "once more [[delay 300]]"); session.PID != agent.PID {
		t.Errorf("resumed: pid %d, want %d", session.PID, agent.PID)
	}
}

// grokKilled is two sessions in one folder, of which one is killed: its end is told once.
func grokKilled(t *testing.T, s *Sandbox, r Release) {
	f := follow(s)
	terminal, agent := openGrok(s, r)
	first := terminal.Works(byPrompt("the first"), "the first [[delay 300]]")
	s.Detached(s.Argv(r, "-p", "the second [[delay 300]]")...)
	second := s.Becomes(byPrompt("the second"), s.Asked("the second"), soon, "working")
	if first.PID != agent.PID || second.PID == agent.PID {
		t.Errorf("pids %d and %d, the terminal's is %d", first.PID, second.PID, agent.PID)
	}
	if err := poll(20*time.Second, func() bool { return f.lists("the second") != "" }); err != nil { // its start can be told before its prompt is recorded
		t.Errorf("the second is not listed: %v", err)
	}
	killed := s.at(second.PID)
	s.Kill(killed)
	s.Becomes(byID(second.ID), time.Now(), soon, "stopped/died")
	f.tells(app.Ended, "the second")
	if n := f.count(app.Ended, "the second"); n != 1 || f.count(app.Ended, "the first") > 0 {
		t.Errorf("its end is told %d times", n)
	}
	s.Kill(agent)
	s.Becomes(byID(first.ID), time.Now(), soon, "stopped/died") // the registry still names it
	s.Gone(s.Detached(s.Argv(r, "-p", "short job")...))
	s.Becomes(byPrompt("short job"), time.Now(), soon, "stopped/completed")
}

// grokTwice is a session that two terminals have: the one that works is known, and its death is no end of the session.
func grokTwice(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openGrok(s, r)
	asked := terminal.Prompt("the first")
	first := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
	one := byID(first.ID)
	second := s.Open(s.Argv(r, "--resume", first.ID)...)
	second.Shows("Mock answer to")
	asked = second.Prompt("in the second [[delay 300]]")
	other := s.at(second.PID())
	if session := s.Becomes(one, asked, soon, "working"); session.PID != other.PID {
		t.Errorf("pid %d works, want %d", session.PID, other.PID)
	}
	s.Kill(other)
	if session := s.Becomes(one, time.Now(), soon, "idle/died"); session.PID != agent.PID {
		t.Errorf("pid %d is left, want %d", session.PID, agent.PID)
	}
}

// grokNew is a terminal in which the user begins another session: the process has both.
func grokNew(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openGrok(s, r)
	asked := terminal.Prompt("the first")
	first := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
	terminal.Enter("/new")
	s.Becomes(func(x Session) bool { return x.PID == agent.PID && x.ID != first.ID }, time.Now(), soon, "idle")
	asked = terminal.Prompt("the second [[delay 300]]")
	s.Becomes(byPrompt("the second"), asked, soon, "working")
	s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")
}

// grokFailed is a run in the background that the model's server refuses, and one that is tried again.
func grokFailed(t *testing.T, s *Sandbox, r Release) {
	output, err := s.run(r, "--output-format", "streaming-json", "-p", "bad job [[fail 400]]").CombinedOutput()
	if why := grok.New(adapters.Config{}).Failure(output); err == nil || !strings.Contains(why, "mock failure 400") {
		t.Errorf("%v, %q:\n%s", err, why, output)
	}
	s.Becomes(byPrompt("bad job"), time.Now(), soon, "stopped/failed")
	s.Detached(s.Argv(r, "-p", "again and again [[fail 500]]")...)
	if retrying := s.Becomes(byPrompt("again and again"), s.Asked("again and again"), soon, "working"); retrying.PID == 0 {
		t.Errorf("%v", retrying)
	}
}

// grokLaunched is a session that Rollcall launched, and answers, prompts, interrupts and stops.
func grokLaunched(t *testing.T, _ *Sandbox, r Release) {
	l, record := launchAnswerable(t, r, "allow me [[bash rm -rf allowed.txt]]")
	s, id := l.Sandbox, record.Session
	first := s.asks("rm -rf allowed.txt")
	if !first.CanAllow || !first.CanDeny || first.Session.ID != id && id != "" {
		t.Errorf("%+v", first)
	}
	id = first.Session.ID
	s.Becomes(byID(id), time.Now(), soon, "waiting/permission")
	s.answered(first, "--allow")
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Becomes(byID(id), s.Asked("long job"), soon, "working")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	l.rollcallStops(record)
}
