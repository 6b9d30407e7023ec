//go:build agents && linux

package agents

import (
	"fmt"
	"path/filepath"
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
	"codex": func(s *Sandbox) (*Terminal, Process) {
		terminal := openCodex(s, CodexNewest)
		return terminal, host(s, CodexNewest, terminal)
	},
	"copilot": func(s *Sandbox) (*Terminal, Process) { return openCopilot(s, CopilotNewest) },
	"kimi":    func(s *Sandbox) (*Terminal, Process) { return openKimi(s) },
}

// step is a key that is pressed when the screen shows a text.
type step struct{ shows, key string }

// command is a slash command that makes, moves, names or leaves the session of a terminal.
type command struct {
	line   string
	steps  []step
	folder string // below the home, where the session is afterwards; empty: where it was
	beside int    // how many sessions live on beside the terminal's
}

// commands are those that are run: each agent's other ones are in the tables of coverage, with the reason.
var commands = map[string][]command{
	"claude-code": {{line: "/branch"}, {line: "/cd ../other", folder: "other", steps: []step{{"No, stay put", "Down"}, {"❯ Yes, move here", "Enter"}}}},
	"codex":       {{line: "/fork", steps: []step{{"Use current Git worktree", "Enter"}}, beside: 1}},
	"copilot":     {{line: "/new", beside: 1}},
	"kimi":        {{line: "/fork"}},
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
	must.Do(t, s.makeProject(filepath.Join(s.Home, "other")))
	terminal, process := openers[agent](s)
	terminal.Prompt("first job")
	terminal.Shows("Mock answer to")
	s.settles("the first turn is over", agent, process, c.beside, "idle", "")
	terminal.Enter(c.line)
	for _, step := range c.steps {
		terminal.Shows(step.shows)
		terminal.Press(step.key)
	}
	terminal.Prompt("second job [[delay 8]]")
	folder := ""
	if c.folder != "" {
		folder = filepath.Join(s.Home, c.folder)
	}
	s.settles("the second turn runs", agent, process, c.beside, "working", folder)
	s.settles("the second turn is over", agent, process, c.beside, "idle", folder)
	terminal.Close()
	if agent != "codex" { // whose daemon keeps them for a while: TestTrayCodexTerminalLeft
		s.settles("the terminal is closed", agent, process, 0, "", "")
	}
}

// settles waits until one session of a process has a status, in a folder unless that is empty, and beside it live no more sessions of the agent than may. No
// session has died.
func (s *Sandbox) settles(what, agent string, p Process, beside int, status, folder string) {
	s.t.Helper()
	var roll Roll
	problem := ""
	err := poll(soon, func() bool {
		var err error
		roll, err = s.List("--all")
		must.Do(s.t, err)
		problem = unsettled(&roll, agent, p, beside, status, folder)
		return problem == ""
	})
	if err != nil {
		s.t.Errorf("%s: %v: %s:%v", what, err, problem, roll)
	}
}

// unsettled returns what is not so yet: see settles.
func unsettled(roll *Roll, agent string, p Process, beside int, status, folder string) string {
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
		if x.PID == p.PID && x.Status == status && (folder == "" || x.CWD == folder) {
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
