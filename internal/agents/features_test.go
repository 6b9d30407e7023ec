//go:build agents && linux

package agents

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// opener starts an agent in a terminal and returns when it takes prompts.
type opener func(s *Sandbox) (*Terminal, Process)

// openers are those of the agents whose commands are run.
var openers = map[string]opener{
	"claude-code": func(s *Sandbox) (*Terminal, Process) {
		terminal := s.Open(s.Program(ClaudeNewest), "--permission-mode", "default")
		terminal.Shows("? for shortcuts")
		return terminal, s.Descendant(terminal.PID(), "claude")
	},
	"copilot": func(s *Sandbox) (*Terminal, Process) { return openCopilot(s, CopilotNewest) },
	"kimi":    func(s *Sandbox) (*Terminal, Process) { return openKimi(s) },
	"omp":     func(s *Sandbox) (*Terminal, Process) { return openOmp(s, s.OpenInTmux, OmpNewest) },
}

// command is a slash command that makes, moves, names or leaves the session of a terminal.
type command struct {
	line   string
	beside int // how many sessions live on beside the terminal's
	listed int // how many sessions there are at the end; 0: it does not matter
}

// commands are those that are run: each agent's other ones are in the tables of coverage, with the reason.
var commands = map[string][]command{
	"claude-code": {{line: "/branch"}},
	"copilot":     {{line: "/new", beside: 1}},
	"kimi":        {{line: "/fork"}},
	"omp": {{line: "/new", listed: 2}, {line: "/clear", listed: 1}, {line: "/fork", listed: 2}, {line: "/delete", listed: 1}, {line: "/handoff", listed: 1},
		{line: `/move ".."`, listed: 1}, {line: "/wt", listed: 1}, {line: "/restart", listed: 1}},
}

// TestCommands gives a terminal a prompt, one of its slash commands, and another prompt.
func TestCommands(t *testing.T) {
	for agent, list := range commands {
		for _, c := range list {
			t.Run(agent+"/"+strings.TrimPrefix(c.line, "/"), func(t *testing.T) {
				nightly(t)
				s := NewSandbox(t)
				built(t, headlessBinary)
				runCommand(t, s, agent, &c)
			})
		}
	}
}

func runCommand(t *testing.T, s *Sandbox, agent string, c *command) {
	terminal, process := openers[agent](s)
	terminal.PromptUntil("first job", "Mock answer to")
	s.settles("the first turn is over", agent, process, c.beside, "idle")
	terminal.Enter(c.line)
	terminal.Prompt("second job [[delay 8]]")
	s.settles("the second turn runs", agent, process, c.beside, "working")
	s.settles("the second turn is over", agent, process, c.beside, "idle")
	terminal.Close()
	s.settles("the terminal is closed", agent, process, 0, "")
	if roll, err := s.List("--all"); err != nil || c.listed > 0 && len(roll.Sessions) != c.listed {
		t.Errorf("not %d sessions: %v:%v", c.listed, err, roll)
	}
}

// settles waits until one session of a process has a status, and beside it live no more sessions of the agent than may. No
// session has died.
func (s *Sandbox) settles(what, agent string, p Process, beside int, status string) {
	s.t.Helper()
	var roll Roll
	problem := ""
	err := poll(soon, func() bool {
		roll = must.Get(s.List("--all"))(s.t)
		problem = unsettled(&roll, agent, p, beside, status)
		return problem == ""
	})
	if err != nil {
		s.t.Errorf("%s: %v: %s:%v", what, err, problem, roll)
	}
}

// unsettled returns what is not so yet: see settles.
func unsettled(roll *Roll, agent string, p Process, beside int, status string) string {
	mine, live := 0, 0
	for _, x := range roll.Sessions {
		switch {
		case x.Agent != agent:
			return "a session of " + x.Agent
		case x.Outcome == "died":
			return x.ID + " died"
		case x.Status == "stopped", x.Parent != "":
			continue
		}
		live++
		if x.PID == p.PID && x.Status == status {
			mine++
		}
	}
	want := 1
	if status == "" { // it is over
		want = 0
	}
	if mine < want || live < want || live > want+beside {
		return fmt.Sprintf("%d sessions of process %d are %q, %d live", mine, p.PID, status, live)
	}
	return ""
}
