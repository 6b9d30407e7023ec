//go:build agents && linux

package agents

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// clockKey says that this machine's clock may be set: it is one of its own, such as a User Mode Linux, in which OpenCode and Kilo do not start.
const clockKey = "ROLLCALL_AGENTS_SET_CLOCK"

// clockAgents are the agents in a terminal, each with what its screen shows while a command waits for a permission.
var clockAgents = []struct {
	release Release
	open    func(*Sandbox, Release) (*Terminal, Process)
	asks    string
}{
	{ClaudeNewest, func(s *Sandbox, r Release) (*Terminal, Process) { return openClaude(s, r, uuid(s.t)) }, "Do you want to proceed?"},
	{PiNewest, openPi, ""},
	{CopilotNewest, func(s *Sandbox, r Release) (*Terminal, Process) { return openCopilot(s, r) }, "Do you want to run"},
	{ClineNewest, func(s *Sandbox, r Release) (*Terminal, Process) { return openCline(s, r) }, "Approve tool call?"},
	{GeminiNewest, func(s *Sandbox, r Release) (*Terminal, Process) { return openGemini(s, r) }, "Allow execution"},
	{QwenNewest, func(s *Sandbox, r Release) (*Terminal, Process) { return openQwen(s, r) }, "Yes, allow once"},
}

// TestClockSet: the clock is set by an hour, forward and back, while an agent works, waits and is idle. Every state stays what it was, or is
// unknown.
func TestClockSet(t *testing.T) {
	for _, agent := range clockAgents {
		for name, step := range clockSteps(t) {
			t.Run(agent.release.Agent+"/"+name, func(t *testing.T) {
				Need(t)
				built(t, headlessBinary)
				s := NewSandbox(t)
				terminal, process := agent.open(s, agent.release)
				terminal.Prompt("first job [[delay 8]]")
				one := byID(s.Becomes(byPrompt("first job"), time.Now(), soon, "working").ID)
				setClock(t, step)
				s.Stays(one, 2*time.Second, "working", "unknown")
				terminal.Shows("Mock answer to")
				s.Becomes(one, time.Now(), soon, "idle", "idle/completed", "unknown")
				setClock(t, step)
				s.Stays(one, 2*time.Second, "idle", "idle/completed", "unknown")
				if agent.asks != "" {
					terminal.PromptUntil("need it [[bash touch ../asked.txt]][[esc]]", agent.asks)
					s.Becomes(one, time.Now(), soon, "waiting/permission", "unknown")
					setClock(t, step)
					s.Stays(one, 2*time.Second, "waiting/permission", "unknown")
					terminal.Dismiss("Escape", agent.asks)
					s.Becomes(one, time.Now(), soon, "idle", "idle/completed", "idle/interrupted", "unknown")
				}
				terminal.Prompt("never ends [[delay 300]]")
				s.Becomes(one, time.Now(), soon, "working", "unknown")
				setClock(t, step)
				s.Stays(one, 2*time.Second, "working", "unknown")
				s.Kill(process)
				s.Becomes(one, time.Now(), soon, "stopped/died", "stopped", "unknown")
			})
		}
	}
}

// TestClockSetInRun does the same to agents that run one prompt without a terminal.
func TestClockSetInRun(t *testing.T) {
	for _, agent := range []struct {
		release Release
		run     []string
		comm    string
	}{
		{ClaudeNewest, []string{"-p"}, "claude"}, {CodexNewest, []string{"exec"}, "codex"}, {PiNewest, []string{"-p"}, "pi"},
	} {
		for name, step := range clockSteps(t) {
			t.Run(agent.release.Agent+"/"+name, func(t *testing.T) {
				Need(t)
				built(t, headlessBinary)
				s := NewSandbox(t)
				for prompt, ends := range map[string][]string{
					"short job [[delay 8]]":    {"stopped", "stopped/completed"},
					"never ends [[delay 300]]": {"stopped", "stopped/died", "unknown"},
				} {
					wrapper := s.Detached(s.Argv(agent.release, append(agent.run, prompt)...)...)
					one := byPrompt(prompt[:10])
					s.Becomes(one, s.Asked(prompt), soon, "working")
					setClock(t, step)
					s.Stays(one, 2*time.Second, "working", "unknown")
					if process := s.Descendant(wrapper.PID, agent.comm); strings.HasPrefix(prompt, "never") {
						s.Signal(process, unix.SIGKILL)
					}
					s.Gone(wrapper)
					s.Becomes(one, time.Now(), soon, ends...)
				}
			})
		}
	}
}

// clockSteps returns by how much the clock is set. The test is skipped where it must not be.
func clockSteps(t *testing.T) map[string]time.Duration {
	if os.Getenv(clockKey) == "" {
		t.Skip("sets the clock: run it on a machine of its own with " + clockKey + "=1")
	}
	return map[string]time.Duration{"forward": time.Hour, "back": -time.Hour}
}

// setClock sets the machine's clock on by that time.
func setClock(t *testing.T, by time.Duration) {
	t.Helper()
	now := unix.NsecToTimeval(time.Now().Add(by).UnixNano())
	must.Do(t, unix.Settimeofday(&now))
}
