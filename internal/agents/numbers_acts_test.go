//go:build agents && linux

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
)

var (
	// titles are asked for beside the conversation.
	titles = unstored{"titles and other requests beside the conversation", "no record of it in any file of the home: the sum of all records is the sum of the others",
		func(q *modelserver.Request) bool { return q.Side }}
)

// talking returns the acts that are a command line for one prompt each. first, on and fork return the arguments for a conversation. first is nil where the agent chooses
// the id, so that the first of the acts must be replaced; fork is nil where there is none.
func talking(first, on, fork func(c *talk, prompt string) []string) []act {
	say := func(text string) func(w *walk) *talk {
		return func(w *walk) *talk {
			c := w.known()
			if c == nil && first == nil {
				return nil
			}
			if c == nil || first != nil && w.rng.IntN(4) == 0 {
				c = w.begin()
				w.runs(c, first(c, strings.ReplaceAll(text, "USAGE", w.usage()))...)
				return c
			}
			w.runs(c, on(c, strings.ReplaceAll(text, "USAGE", w.usage()))...)
			return c
		}
	}
	acts := []act{
		{"a new conversation", func(w *walk) *talk {
			c := w.begin()
			w.runs(c, first(c, "one "+w.usage())...)
			return c
		}},
		{"a further turn", say("more USAGE")},
		{"a tool", say("run [[bash true]] USAGE")},
		{"a failed answer", say("fail [[fail 400]] USAGE")},
		{"an interrupted answer", func(w *walk) *talk {
			c := w.known()
			if c == nil {
				return nil
			}
			w.interrupted(c, on(c, "wait [[delay 60]] "+w.usage())...)
			return c
		}},
	}
	if fork != nil {
		acts = append(acts, act{"a fork", func(w *walk) *talk {
			c := w.known()
			if c == nil {
				return nil
			}
			w.runs(c, fork(c, "fork "+w.usage())...)
			return c
		}})
	}
	return acts
}

func spawning(on func(c *talk, prompt string) []string) act {
	return act{"a sub-agent", func(w *walk) *talk {
		c := w.known()
		if c == nil {
			return nil
		}
		inner := strings.NewReplacer("[[", "((", "]]", "))").Replace(w.usage())
		w.runs(c, on(c, "delegate [[agent child job "+inner+"]] "+w.usage())...)
		return c
	}}
}

// idFrom takes the id of a conversation from what the agent printed.
func idFrom(out []byte, member string) string {
	for line := range strings.Lines(string(out)) {
		var said map[string]any
		if json.Unmarshal([]byte(line), &said) == nil {
			if id, ok := said[member].(string); ok {
				return id
			}
		}
	}
	return ""
}

func numberedAgents() []numbered {
	return []numbered{claudeNumbers(), codexNumbers(), copilotNumbers(), geminiNumbers(), qwenNumbers(), piNumbers(), openCodeNumbers()}
}

func claudeNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--model", c.model, "--allowedTools", "Bash,Agent"}, more...)
	}
	on := func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) }
	acts := talking(func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, on,
		func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id, "--fork-session") })
	acts = append(acts, spawning(on), act{"a compaction", func(w *walk) *talk {
		c := w.known()
		if c != nil {
			w.runs(c, on(c, "/compact")...)
		}
		return c
	}})
	return numbered{name: "claude-code", release: ClaudeNewest, homes: "CLAUDE_CONFIG_DIR", folder: ".claude", models: []string{"claude-sonnet-5-5", "claude-haiku-5-5"}, acts: acts,
		unstored: []unstored{titles, {"the summary of a compaction", "no record of it in the transcript (2.1.332)",
			func(q *modelserver.Request) bool {
				return strings.Contains(q.Prompt, "detailed summary of the conversation")
			}}},
		prepare: func(w *walk) {
			data, err := os.ReadFile(filepath.Join(w.Home, ".claude.json"))
			must.Do(w.T, err)
			must.Do(w.T, os.WriteFile(filepath.Join(w.homes[1], ".claude.json"), data, 0o600))
		}}
}

func copilotNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--allow-all-tools", "--allow-all-paths", "--model", c.model, "--no-auto-update"}, more...)
	}
	on := func(c *talk, prompt string) []string { return flags(c, prompt, "--resume="+c.id) }
	acts := append(talking(func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, on, nil), spawning(on))
	return numbered{name: "copilot", release: CopilotNewest, homes: "COPILOT_HOME", folder: ".copilot", models: []string{"claude-sonnet-4.6"}, acts: acts, unstored: []unstored{titles},
		prepare: func(w *walk) {
			w.extraEnv = append(w.extraEnv, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL="+w.Server.URL(), "COPILOT_MODEL=claude-sonnet-4.6")
		}}
}

func geminiNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--approval-mode", "yolo", "-m", c.model}, more...)
	}
	on := func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) }
	acts := append(talking(func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, on, nil), spawning(on))
	return numbered{name: "gemini", release: GeminiNewest, homes: "GEMINI_CLI_HOME", folder: ".gemini", models: []string{"gemini-3.8-flash", "gemini-3.8-pro"}, apart: true, acts: acts,
		unstored: []unstored{titles}}
}

func qwenNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"--approval-mode", "yolo", "-p", prompt}, more...)
	}
	on := func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) }
	acts := talking(func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, on,
		func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id, "--fork-session") })
	return numbered{name: "qwen", release: QwenNewest, folder: ".qwen", models: []string{mockModel}, acts: acts, unstored: []unstored{titles}}
}

func piNumbers() numbered {
	on := func(c *talk, prompt string) []string { return []string{"-p", "--session", c.id, prompt} }
	acts := talking(func(c *talk, prompt string) []string { return []string{"-p", "--session-id", c.id, prompt} }, on,
		func(c *talk, prompt string) []string { return []string{"-p", "--fork", c.id, prompt} })
	// As the extension pi-subagents starts its sub-agents: with a folder below that of the session for their files, which it names after the session's.
	below := func(w *walk, c *talk, names ...string) string {
		found, err := filepath.Glob(filepath.Join(w.Home, w.folder, "sessions", "*", "*_"+c.id+".jsonl"))
		must.Do(w.T, err)
		if len(found) == 0 {
			return ""
		}
		return filepath.Join(append([]string{strings.TrimSuffix(found[0], ".jsonl")}, names...)...)
	}
	child := func(name string, args func(c *talk) []string, names ...string) act {
		return act{name, func(w *walk) *talk {
			c := w.known()
			if c == nil {
				return nil
			}
			dir := below(w, c, names...)
			if dir == "" {
				return nil
			}
			w.runs(c, append(args(c), "--session-dir", dir, "child "+w.usage())...)
			return c
		}}
	}
	acts = append(acts, child("a sub-agent", func(*talk) []string { return []string{"-p"} }, "worker", "run-0"),
		act{"a sub-agent with the history", func(w *walk) *talk {
			c := w.known()
			if c == nil || below(w, c) == "" {
				return nil
			}
			w.runs(c, "-p", "--fork", below(w, c)+".jsonl", "--session-dir", below(w, c, "forks"), "child "+w.usage())
			return c
		}})
	return numbered{name: "pi", release: PiNewest, folder: ".pi/agent", models: []string{mockModel}, acts: acts, unstored: []unstored{titles}}
}

func openCodeNumbers() numbered {
	first := func(w *walk, c *talk, prompt string) {
		if id := idFrom(w.runs(c, "run", "--format", "json", prompt), "sessionID"); id != "" {
			c.id = id
		}
	}
	on := func(c *talk, prompt string) []string { return []string{"run", "--session", c.id, prompt} }
	acts := talking(nil, on, func(c *talk, prompt string) []string { return []string{"run", "--session", c.id, "--fork", prompt} })[1:]
	acts = append([]act{{"a new conversation", func(w *walk) *talk {
		c := w.begin()
		first(w, c, "one "+w.usage())
		return c
	}}}, acts...)
	return numbered{name: "opencode", release: OpenCodeNewest, folder: ".local/share/opencode", models: []string{mockModel}, apart: true, acts: append(acts, spawning(on)),
		unstored: []unstored{titles}}
}
