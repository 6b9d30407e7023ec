//go:build agents && linux

package agents

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// registrySays waits until the registry entry of that process has the text.
func registrySays(s *Sandbox, p Process, text string) {
	s.t.Helper()
	if err := poll(20*time.Second, func() bool { return strings.Contains(registryOf(s, p), text) }); err != nil {
		s.t.Fatalf("the registry does not say %s: %v: %s", text, err, registryOf(s, p))
	}
}

// takeBack gives a prompt and takes it back before its answer begins.
func takeBack(s *Sandbox, terminal *Terminal, id, prompt string) {
	s.t.Helper()
	terminal.Prompt(prompt + " [[delay 90]]")
	written(s, id, prompt)
	terminal.Dismiss("Escape", "esc to interrupt")
	if strings.Contains(transcript(s, id), "[Request interrupted by user") {
		s.t.Skip("the agent wrote that it was interrupted")
	}
}

// waysOut are the ways by which a user leaves Claude Code.
var waysOut = map[string]func(s *Sandbox, terminal *Terminal, agent Process){
	"Ctrl-C":          func(s *Sandbox, terminal *Terminal, agent Process) { leave(s, terminal, agent, "C-c") },
	"Ctrl-D":          func(s *Sandbox, terminal *Terminal, agent Process) { leave(s, terminal, agent, "C-d") },
	"terminal closed": func(s *Sandbox, terminal *Terminal, agent Process) { terminal.Close() },
}

// A prompt that is taken back before the first answer leaves an open turn in the
// transcript. The session did not die, whatever way the user leaves it by.
func TestClaudePromptTakenBack(t *testing.T) {
	for name, way := range waysOut {
		t.Run(name, func(t *testing.T) {
			s := NewSandbox(t)
			id := uuid(t)
			terminal, agent := openClaude(s, ClaudeNewest, id)
			takeBack(s, terminal, id, "taken back")
			s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
			way(s, terminal, agent)
			s.Gone(agent)
			s.Becomes(byID(id), time.Now(), soon, "stopped/interrupted")
		})
	}
}

// leave presses a key, which Claude Code wants twice, until the agent is gone.
// The first ones empty the prompt, to which a prompt that was taken back returns.
func leave(s *Sandbox, terminal *Terminal, agent Process, key string) {
	s.t.Helper()
	if key != "C-c" { // Ctrl-D deletes from a prompt that isn't empty
		terminal.Press("C-u")
	}
	err := poll(20*time.Second, func() bool {
		if _, alive := readProcess("/proc/" + strconv.Itoa(agent.PID)); !alive {
			return true
		}
		_, _ = s.tryTmux("send-keys", "-t", terminal.pane(), key) // its terminal closes with it
		return false
	})
	if err != nil {
		s.t.Fatalf("%s does not end %v: %v", key, agent, err)
	}
}

// A run that is terminated in mid-turn ends in an orderly way; one that is killed
// dies, also when its first question for a permission has just come up.
func TestClaudeTerminatedOrKilled(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, asked := detachClaude(s, r, id, "terminated [[delay 90]]")
		s.Becomes(byID(id), asked, soon, "working")
		written(s, id, "terminated")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/interrupted")

		id = uuid(t)
		terminal, agent := openClaude(s, r, id)
		terminal.Prompt("permission [[bash touch asked.txt]]")
		registrySays(s, agent, `"waitingFor":"permission prompt"`)
		s.Kill(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/died")
	})
}

// A session that was killed in mid-turn and is opened again without a prompt is
// idle; its last turn died, and stays the only thing that did when it is closed.
func TestClaudeOpenedAgainAfterDeath(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, _ := detachClaude(s, r, id, "killed [[delay 90]]")
		written(s, id, "killed")
		s.Kill(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/died")
		terminal := s.Open(s.Program(r), "--resume", id, "--permission-mode", "default")
		terminal.Shows("? for shortcuts")
		again := s.Descendant(terminal.PID(), "claude")
		idle := s.Becomes(byID(id), time.Now(), soon, "idle/died")
		if idle.PID != again.PID {
			t.Errorf("pid %d, want %d", idle.PID, again.PID)
		}
		s.Stays(byID(id), 3*time.Second, "idle/died")
		terminal.Leave("/exit", again)
		s.Becomes(byID(id), time.Now(), soon, "stopped/died")
	})
}

// typeCommand gives a slash command. What is typed right after a dialog has
// closed is now and then lost: then it is typed again.
func typeCommand(terminal *Terminal, command string) {
	s := terminal.s
	s.t.Helper()
	var typed time.Time
	err := poll(30*time.Second, func() bool {
		lines := strings.Split(terminal.Screen(), "\n")
		for i := len(lines) - 1; i >= 0; i-- {
			if prompt, ok := strings.CutPrefix(lines[i], "❯"); ok {
				if strings.TrimSpace(prompt) == command {
					return !typed.IsZero()
				}
				break
			}
		}
		if time.Since(typed) > 3*time.Second {
			terminal.Press("C-u")
			s.tmux("send-keys", "-t", terminal.pane(), "-l", command)
			typed = time.Now()
		}
		return false
	})
	if err != nil {
		s.t.Fatalf("%s is not typed: %v\n%s", command, err, terminal.Screen())
	}
	terminal.Press("Enter")
}

// closeDialog presses Escape until the registry says that no dialog is open.
func closeDialog(s *Sandbox, terminal *Terminal, agent Process) {
	s.t.Helper()
	var pressed time.Time
	err := poll(30*time.Second, func() bool {
		if !strings.Contains(registryOf(s, agent), "dialog open") {
			return true
		}
		if time.Since(pressed) > 2*time.Second { // twice at the prompt opens another dialog
			terminal.Press("Escape")
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		s.t.Fatalf("the dialog does not close: %v\n%s", err, terminal.Screen())
	}
	time.Sleep(500 * time.Millisecond) // a key right after Escape is read as one with Alt
}

// A dialog that the user opens is no question of the agent's.
func TestClaudeOwnDialog(t *testing.T) {
	s := NewSandbox(t)
	id := uuid(t)
	terminal, agent := openClaude(s, ClaudeNewest, id)
	dialogs := func(state string) {
		t.Helper()
		for _, command := range []string{"/model", "/config", "/resume"} {
			typeCommand(terminal, command)
			registrySays(s, agent, `"waitingFor":"dialog open"`)
			s.Becomes(byID(id), time.Now(), soon, state)
			closeDialog(s, terminal, agent)
		}
	}
	dialogs("idle")
	terminal.PromptUntil("first", "Mock answer to: first")
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	dialogs("idle/completed")
	terminal.Works(byID(id), "long [[delay 90]]")
	typeCommand(terminal, "/config")
	s.Stays(byID(id), 2*time.Second, "working")
}
