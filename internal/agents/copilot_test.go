//go:build agents && linux

package agents

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/adapters/copilot"
	"rollcall/app"
	"rollcall/internal/must"
)

// copilotBelow waits for the native program at or below a pid: npm's script starts it.
func copilotBelow(s *Sandbox, pid int) (found Process) {
	s.t.Helper()
	err := poll(30*time.Second, func() bool {
		all := s.Processes()
		for _, p := range all {
			if strings.Contains(p.Args[0], "/@github/copilot-") && below(all, p.PID, pid) {
				found = p
				return true
			}
		}
		return false
	})
	if err != nil {
		s.t.Fatalf("no Copilot below %d: %v", pid, err)
	}
	return found
}

// openCopilot starts Copilot in a terminal and returns when it takes prompts.
func openCopilot(s *Sandbox, r Release, flags ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, flags...)...)
	agent := copilotBelow(s, terminal.PID())
	s.Becomes(byPID(agent.PID), time.Now(), 2*soon, "idle", "idle/interrupted", "idle/completed")
	return terminal, agent
}

// Copilot through each state, each part in a sandbox of its own.
func TestCopilot(t *testing.T) {
	for name, part := range map[string]func(*testing.T, *Sandbox, Release){
		"turns": copilotTurns, "interrupted": copilotInterrupted, "killed": copilotKilled, "failed": copilotFailed, "launched": copilotLaunched,
		"went back": copilotWentBack, "forked": copilotForked} {
		t.Run(name, func(t *testing.T) { each(t, []Release{CopilotNewest}, part) })
	}
}

// copilotTurns is a session at work, that asks for permission, asks a question, and has a sub-agent.
func copilotTurns(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openCopilot(s, r)
	asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
	working := s.Becomes(byPrompt("first job"), asked, soon, "working")
	if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "copilot" || working.Branch != branch {
		t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
	}
	terminal.Shows("Mock answer to") // the time comes before the prompt
	one := byID(working.ID)
	idle := s.Becomes(one, time.Now(), soon, "idle/completed")
	if want := (Tokens{Input: 71, Output: 22, CacheRead: 40}); idle.Model != mockModel || idle.Stale != nil || idle.Tokens != want {
		t.Errorf("idle: model %q, stale %v, tokens %+v", idle.Model, idle.Stale, idle.Tokens)
	}
	terminal.Prompt("need it [[bash touch asked.txt]]")
	if waiting := s.Becomes(one, time.Now(), soon, "waiting/permission"); !strings.Contains(waiting.Evidence, "touch asked.txt") {
		t.Errorf("evidence: %s", waiting.Evidence)
	}
	terminal.Answer("Enter", "Done.")
	s.Becomes(one, time.Now(), soon, "idle/completed")
	s.made(filepath.Join(s.Project, "asked.txt"))
	terminal.Prompt("delegate [[agent child work]]")
	asked = s.Asked("child work")
	s.Becomes(one, asked, soon, "idle/completed")
	terminal.Prompt("ask me [[ask]]")
	s.Becomes(one, time.Now(), soon, "waiting/question")
	terminal.Shows("esc cancel") // the record comes before the picture
	terminal.Dismiss("Escape", "esc cancel")
	s.Becomes(one, time.Now(), soon, "idle/interrupted", "idle/completed")
}

// copilotInterrupted is a session that the user interrupts, whose process is ended, and that is resumed.
func copilotInterrupted(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openCopilot(s, r)
	asked := terminal.Prompt("the first")
	first := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
	one := byID(first.ID)
	asked = terminal.Prompt("never ends [[delay 300]]")
	s.Becomes(one, asked, soon, "working")
	_ = poll(30*time.Second, func() bool { // a key may go to what has just come up
		terminal.Press("Escape")
		time.Sleep(200 * time.Millisecond) // two keys at once are one
		terminal.Press("Escape")           // before the first words of an answer, the prompt is taken back
		time.Sleep(time.Second)
		return !strings.Contains(terminal.Screen(), "Working")
	})
	s.Becomes(one, time.Now(), soon, "idle/interrupted", "idle/completed")
	s.Signal(agent, unix.SIGTERM)
	s.Gone(agent)
	s.Becomes(one, time.Now(), soon, "stopped/interrupted", "stopped/completed")
	again, agent := openCopilot(s, r, "--resume="+first.ID)
	s.Becomes(one, time.Now(), soon, "idle/interrupted", "idle/completed")
	asked = again.Prompt("once more [[delay 300]]")
	if session := s.Becomes(one, asked, soon, "working"); session.PID != agent.PID {
		t.Errorf("resumed: pid %d, want %d", session.PID, agent.PID)
	}
}

// copilotKilled is two sessions in one folder, of which one is killed: its end is told once.
func copilotKilled(t *testing.T, s *Sandbox, r Release) {
	f := follow(s)
	one := s.Detached(s.Argv(r, "-p", "the first [[delay 300]]", "--allow-all-tools")...)
	first := s.Becomes(byPrompt("the first"), s.Asked("the first"), soon, "working")
	two := s.Detached(s.Argv(r, "-p", "the second [[delay 300]]", "--allow-all-tools")...)
	second := s.Becomes(byPrompt("the second"), s.Asked("the second"), soon, "working")
	killed := copilotBelow(s, two.PID)
	if first.PID != copilotBelow(s, one.PID).PID || second.PID != killed.PID {
		t.Errorf("pids %d and %d", first.PID, second.PID)
	}
	f.tells(app.Started, "the second")
	s.Kill(killed)
	s.Becomes(byID(second.ID), time.Now(), soon, "stopped/died")
	s.Becomes(byID(first.ID), time.Now(), soon, "working")
	f.tells(app.Ended, "the second")
	if n := f.count(app.Ended, "the second"); n != 1 || f.count(app.Ended, "the first") > 0 {
		t.Errorf("its end is told %d times", n)
	}
}

// copilotWentBack is a terminal that was to continue a session that another one has, and went back from the warning: it has a session of
// its own, though its command line still names the other one.
func copilotWentBack(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openCopilot(s, r)
	asked := terminal.Prompt("the first")
	first := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
	other := s.Open(s.Argv(r, "--resume="+first.ID)...)
	back := copilotBelow(s, other.PID())
	other.Dismiss("Escape", "Session in use")
	s.Becomes(byPID(back.PID), time.Now(), soon, "idle")
	if session := s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed"); session.PID != agent.PID {
		t.Errorf("the first: pid %d, want %d", session.PID, agent.PID)
	}
	asked = other.Prompt("my own [[delay 4]]")
	if session := s.Becomes(byPrompt("my own"), asked, soon, "working"); session.PID != back.PID || session.ID == first.ID {
		t.Errorf("my own: %s in pid %d, want another session in %d", session.ID, session.PID, back.PID)
	}
}

// copilotForked is a terminal that goes on with a copy of its session: until its first prompt nothing is recorded of who has it.
func copilotForked(t *testing.T, s *Sandbox, r Release) {
	terminal, agent := openCopilot(s, r)
	asked := terminal.Prompt("the first")
	first := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
	isCopy := func(x Session) bool { return x.Agent == "copilot" && x.ID != first.ID && x.FirstPrompt == "the first" }
	terminal.Enter("/fork")
	terminal.Shows("Forked from")
	second := s.Becomes(isCopy, time.Now(), soon, "unknown")
	s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")
	asked = terminal.Prompt("the second [[delay 4]]")
	if session := s.Becomes(isCopy, asked, soon, "working"); session.ID != second.ID || session.PID != agent.PID {
		t.Errorf("the copy is %s in pid %d, want %s in %d", session.ID, session.PID, second.ID, agent.PID)
	}
	s.Becomes(byID(second.ID), time.Now(), soon, "idle/completed")
	s.Signal(agent, unix.SIGTERM)
	s.Gone(agent)
	roll := must.Get(s.listWith(s.Env(), "--all"))(t)
	if len(roll.Sessions) != 2 {
		t.Errorf("two sessions have ended: %v", roll)
	}
	for _, x := range roll.Sessions {
		if x.state() != "stopped/completed" {
			t.Errorf("its process has ended: %v", x)
		}
	}
}

// copilotFailed is a run in the background that the model's server refuses.
func copilotFailed(t *testing.T, s *Sandbox, r Release) {
	cmd := s.run(r, "--output-format", "json")
	cmd.Stdin = strings.NewReader("bad job [[fail 400]]")
	output, err := cmd.CombinedOutput()
	if why := copilot.New(adapters.Config{}).Failure(output); err == nil || !strings.Contains(why, "mock failure 400") {
		t.Errorf("%v, %q:\n%s", err, why, output)
	}
	s.Becomes(byPrompt("bad job"), time.Now(), soon, "stopped/failed")
}

// copilotLaunched is a session that Rollcall launched, and answers, prompts, interrupts and stops.
func copilotLaunched(t *testing.T, _ *Sandbox, r Release) {
	l, record := launchAnswerable(t, r, "allow me [[bash touch allowed.txt]]")
	s, id := l.Sandbox, record.Session
	first := s.asks("touch allowed.txt")
	if !first.CanAllow || !first.CanDeny || first.Session.ID != id {
		t.Errorf("%+v", first)
	}
	s.Becomes(byID(id), time.Now(), soon, "waiting/permission")
	s.answered(first, "--allow")
	s.made(filepath.Join(s.Project, "allowed.txt"))
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Becomes(byID(id), s.Asked("long job"), soon, "working")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted", "idle/completed")
	l.rollcallStops(record)
}
