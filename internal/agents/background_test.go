//go:build agents && linux

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// leavesRunning are the agents that run commands in the background, with the flags with which they ask for nothing, and what their screens say of one.
var leavesRunning = map[string]struct {
	flags  []string
	ready  string // what the screen shows once it takes prompts
	screen string
	mcp    string // the file with MCP servers, to which %s, a script, is added; empty: none is added
	server string
}{
	"codex": {[]string{"--dangerously-bypass-approvals-and-sandbox"}, "? for shortcuts", "1 background terminal running", ".codex/config.toml",
		"\n[mcp_servers.lasting]\ncommand = \"bash\"\nargs = [\"-c\", %s]\n"},
	"copilot": {[]string{"--allow-all-tools"}, "❯", "Waiting for background shells", ".copilot/mcp-config.json",
		`{"mcpServers":{"lasting":{"type":"local","command":"bash","args":["-c",%s],"tools":["*"]}}}`},
	"gemini": {[]string{"--approval-mode", "yolo"}, "Type your message", "1 Background process", "proj/.gemini/settings.json",
		`{"mcpServers":{"lasting":{"command":"bash","args":["-c",%s]}}}`},
	"grok": {[]string{"--yolo"}, "❯", "1 command still running", "", ""},
	"kimi": {[]string{"--yolo"}, "context:", "1 task running", "", ""},
	"qwen": {[]string{"--approval-mode", "yolo"}, "Type your message", "1 shell", "proj/.qwen/settings.json", `{"mcpServers":{"lasting":{"command":"bash","args":["-c",%s]}}}`},
}

// TestWorkInBackground: a command that goes on after the turn is told while it runs, beside an MCP server that is a shell with a script, too. The agents' screens
// say that it runs, and the process table that it has ended.
func TestWorkInBackground(t *testing.T) {
	for agent, c := range leavesRunning {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			release := newest[slices.IndexFunc(newest, func(r Release) bool { return r.Agent == agent })]
			s := NewSandbox(t)
			built(t, headlessBinary)
			s.onPath(release)
			s.addServer(agent)
			terminal := s.OpenInTmux(append(s.Argv(release), c.flags...)...)
			terminal.Shows(c.ready)
			asked := terminal.Prompt("starts it with " + agent + " [[behind]][[bash sleep 1005; echo over]]")
			terminal.Shows(c.screen)
			runs := func(x Session) bool {
				return x.state() == "idle/completed" && len(x.Background) == 1 && x.Background[0].Kind == "command" && strings.Contains(x.Background[0].What, "sleep 1005") &&
					x.Background[0].Since != ""
			}
			row := s.shows(byPrompt("starts it with "+agent), asked, 2*soon, "one command runs", runs)
			for _, p := range s.Processes() {
				if strings.Join(p.Args, " ") == "sleep 1005" {
					p.kill()
					s.Gone(p)
				}
			}
			s.shows(byID(row.ID), time.Now(), soon, "no command runs", func(x Session) bool {
				return x.state() == "idle/completed" && len(x.Background) == 0 && strings.Contains(x.FirstPrompt, "starts it")
			})
		})
	}
}

// addServer configures an MCP server whose command is a shell with a script.
func (s *Sandbox) addServer(agent string) {
	s.t.Helper()
	c := leavesRunning[agent]
	if c.mcp == "" {
		return
	}
	script := must.Get(json.Marshal(lastingServer))(s.t)
	path := filepath.Join(s.Home, c.mcp)
	before, _ := os.ReadFile(path)
	text := string(before) + strings.ReplaceAll(c.server, "%s", string(script))
	must.Do(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(s.t, os.WriteFile(path, []byte(text), 0o600))
}
