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

// orphan is what rollcall orphans --json prints of a process.
type orphan struct {
	Agent, Session string
	Processes      []struct {
		PID     int
		Command string
		Ports   []int
	}
}

// orphans returns what Rollcall lists as left behind.
func (s *Sandbox) orphans(flags ...string) (list []orphan) {
	s.t.Helper()
	output, err := s.Command(headlessBinary, append([]string{"orphans", "--json"}, flags...)...).Output()
	if err != nil {
		s.t.Fatalf("orphans: %v: %s", err, output)
	}
	var doc struct{ Orphans []orphan }
	must.Do(s.t, json.Unmarshal(output, &doc))
	return doc.Orphans
}

// linesOf returns the command lines of what is left behind.
func linesOf(list []orphan) (lines []string) {
	for _, o := range list {
		for _, p := range o.Processes {
			lines = append(lines, p.Command)
		}
	}
	slices.Sort(lines)
	return lines
}

// lastingServer is an MCP server, without tools, whose process does not notice the end of its input.
const lastingServer = `exec 3<&0
while read -r request; do
	id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$request")
	case $request in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lasting","version":"1"}}}' ;;
	*'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}' ;;
	esac
done <&3 &
exec sleep 1001`

// An MCP server that does not notice the end of its input, and a development server that a command left in the background, of a Claude Code that is killed. They are
// left behind once it has ended, and not while it lives; what else runs, such as tmux started by it, never is.
func TestClaudeOrphans(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		s.More = []string{"IS_SANDBOX=1"}
		server := must.Get(json.Marshal(lastingServer))(t)
		mcp := `{"mcpServers":{"lasting":{"command":"bash","args":["-c",` + string(server) + `]}}}`
		command := "[[bash setsid sleep 1002 </dev/null >/dev/null 2>&1 & tmux -S " + filepath.Join(s.dir, "other") + " -f /dev/null new-session -d 'sleep 1003'; sleep 1004]]"
		s.Detached(s.Argv(r, "-p", "--allowedTools", "Bash", "--mcp-config", mcp, "--", "leaves them "+command)...)
		row := s.Becomes(byPrompt("leaves them"), time.Now(), soon, "working")
		runs := func(line string) bool {
			return slices.ContainsFunc(s.Processes(), func(p Process) bool { return strings.Join(p.Args, " ") == line })
		}
		if err := poll(soon, func() bool {
			return runs("sleep 1001") && runs("sleep 1002") && runs("sleep 1003") && runs("sleep 1004")
		}); err != nil {
			t.Fatalf("%v: %v", err, s.Processes())
		}
		if list := s.orphans(); len(list) > 0 {
			t.Errorf("while it lives: %+v", list)
		}
		agent := s.at(row.PID)
		s.Kill(agent)
		want := []string{"sleep 1001", "sleep 1002"}
		var list []orphan
		if err := poll(soon, func() bool {
			list = s.orphans()
			lines := slices.DeleteFunc(linesOf(list), func(line string) bool { return !slices.Contains(want, line) })
			return slices.Equal(lines, want)
		}); err != nil {
			t.Fatalf("left behind: %+v, want %q; %v", list, want, s.Processes())
		}
		t.Logf("left behind: %+v", list)
		for _, o := range list {
			if o.Agent != "claude-code" || o.Session != row.ID {
				t.Errorf("left by %s %s, want session %s", o.Agent, o.Session, row.ID)
			}
		}
		output, err := s.Command(headlessBinary, "list", "--all").CombinedOutput()
		if err != nil || !strings.Contains(string(output), "behind") {
			t.Errorf("list --all: %v\n%s", err, output)
		}
		resumed := s.Open(s.Argv(r, "--resume", row.ID)...)
		s.Becomes(byID(row.ID), time.Now(), soon, "idle", "idle/interrupted", "idle/died", "idle/failed", "idle/completed")
		if list := s.orphans(); len(list) > 0 {
			t.Errorf("while the session is resumed: %+v", list)
		}
		resumed.Close()
		s.Becomes(byID(row.ID), time.Now(), soon, "stopped", "stopped/died", "stopped/interrupted", "stopped/completed")
		s.rollcall("orphans", "--end", "--yes")
		if runs("sleep 1001") || runs("sleep 1002") || !runs("sleep 1003") {
			t.Errorf("after --end: %v", s.Processes())
		}
	})
}

// TestOrphansOfAgents: what other agents leave behind when they end by themselves, by the variables that they set for a command; and by the one that Rollcall
// sets for its launches.
func TestOrphansOfAgents(t *testing.T) {
	flags := map[string][]string{
		"codex": {"exec", "--dangerously-bypass-approvals-and-sandbox"}, "opencode": {"run"}, "kilo": {"run", "--auto"}, "pi": {"-p"},
		"copilot": {"--allow-all-tools", "-p"}, "qwen": {"--approval-mode", "yolo", "-p"}, "grok": {"--yolo", "-p"},
	}
	for agent, arguments := range flags {
		t.Run(agent, func(t *testing.T) {
			release := newest[slices.IndexFunc(newest, func(r Release) bool { return r.Agent == agent })]
			s := NewSandbox(t)
			built(t, headlessBinary)
			path := []string{filepath.Dir(Node.Program(s.cache)), filepath.Join(release.prefix(s.cache), "bin"), os.Getenv("PATH")}
			s.More = []string{"PATH=" + strings.Join(path, ":")}
			go1 := filepath.Join(s.dir, "go")
			command := "[[bash setsid sleep 1002 </dev/null >/dev/null 2>&1 & until [ -e " + go1 + " ]; do sleep 0.1; done]]"
			wrapper := s.Detached(append(s.Argv(release, arguments...), "leaves it "+command)...)
			// Kilo 7.7.9 may take most of a minute in a new home before it asks the model.
			if err := poll(3*soon, func() bool {
				return slices.ContainsFunc(s.Processes(), func(p Process) bool { return strings.Join(p.Args, " ") == "sleep 1002" })
			}); err != nil {
				t.Fatalf("%v: %v", err, s.Processes())
			}
			if list := s.orphans(); len(list) > 0 {
				t.Errorf("while it lives: %+v", list)
			}
			must.Do(t, os.WriteFile(go1, nil, 0o600))
			s.Gone(wrapper)
			var list []orphan
			if err := poll(soon, func() bool {
				list = s.orphans()
				return slices.Equal(linesOf(list), []string{"sleep 1002"})
			}); err != nil {
				t.Fatalf("left behind: %+v; %v", list, s.Processes())
			}
			named := agent != "opencode" && agent != "kilo" // which tell a command only their pid
			if list[0].Agent != agent || (list[0].Session != "") != named {
				t.Errorf("left behind: %+v", list)
			}
		})
	}
}
