//go:build agents && linux

package agents

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
)

// secondModel is a further model of the agents that take any provider.
const secondModel = "mock-2"

// titles are asked for beside the conversation.
var titles = unstored{"titles and other requests beside the conversation", "no record of it in any file of the home: the sum of all records is the sum of the others",
	func(q *modelserver.Request) bool {
		isStored := strings.HasPrefix(q.Prompt, "Here is the conversation so far") || strings.HasPrefix(q.Prompt, "First, reason in your <analysis>")
		return q.Side && !isStored // summaries of OpenCode, Kilo and Qwen Code
	}}

// summaries returns what an agent does not store of a compaction: the requests whose prompts begin so.
func summaries(proof string, prompts ...string) unstored {
	return unstored{"the summary of a compaction", proof, func(q *modelserver.Request) bool {
		return slices.ContainsFunc(prompts, func(p string) bool { return strings.HasPrefix(q.Prompt, p) })
	}}
}

// speech is how an agent is given prompts: the arguments of the commands that do it. What is nil or empty it can't do.
type speech struct {
	first  func(c *talk, prompt string) []string // begins a conversation
	id     *regexp.Regexp                        // finds its id in what is printed; nil: it is chosen
	on     func(c *talk, prompt string) []string // goes on with a conversation
	fork   func(c *talk, prompt string) []string // begins another one with its history
	spawns bool                                  // it has sub-agents
	sumUp  string                                // the prompt that has it sum a conversation up; empty: it has none
	window int                                   // of its models, in tokens: it sums up by itself before that is full; 0: this is not tried
}

// begin begins a conversation.
func (s speech) begin(w *walk, prompt string) *talk {
	c := w.begin()
	out := w.runs(c, s.first(c, w.prompt(prompt))...)
	return s.named(c, out)
}

// named gives a conversation the id that was printed; it is nil if there was none.
func (s speech) named(c *talk, out []byte) *talk {
	if s.id == nil {
		return c
	}
	m := s.id.FindSubmatch(out)
	if m == nil {
		return nil
	}
	c.id = string(m[1])
	return c
}

// say is an act that has the agent take a prompt in a conversation, or in a new one.
func (s speech) say(name, prompt string) act {
	return act{name, func(w *walk) *talk {
		c := w.known()
		if s.on == nil || c == nil || w.rng.IntN(4) == 0 {
			return s.begin(w, prompt)
		}
		w.runs(c, s.on(c, w.prompt(prompt))...)
		return c
	}}
}

// goes is an act with a conversation that there is.
func goes(name string, do func(w *walk, c *talk)) act {
	return act{name, func(w *walk) *talk {
		c := w.known()
		if c != nil {
			do(w, c)
		}
		return c
	}}
}

// full returns a prompt whose answer states that the window is full.
func (s speech) full(w *walk, text string) string {
	return fmt.Sprintf("[[new]] %s [[usage %d 50]]", text, s.window-w.rng.IntN(s.window/40))
}

// copied has a conversation go on in the other home, with a copy of what is named after it, unless there is one.
func copied(w *walk, c *talk) {
	w.Helper()
	own := filepath.Join(w.Home, w.folder)
	other := w.homes[1]
	if c.home != "" {
		other = ""
	}
	from := cmp.Or(c.home, own)
	to := cmp.Or(other, own)
	must.Do(w.T, filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.Contains(e.Name(), c.id) {
			return err
		}
		name := must.Get(filepath.Rel(from, path))(w.T)
		must.Do(w.T, os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o700))
		must.Do(w.T, exec.Command("cp", "-a", "-n", "-T", path, filepath.Join(to, name)).Run())
		if e.IsDir() {
			return filepath.SkipDir
		}
		return nil
	}))
	c.home = other
	w.twice = true
}

// childPrompt begins the prompts of sub-agents.
const childPrompt = "child job "

// acts returns what an agent does by these commands.
func (s speech) acts(more ...act) []act {
	list := []act{
		{"a new conversation", func(w *walk) *talk { return s.begin(w, "one") }},
		s.say("a further turn", "more"),
		s.say("a tool", "run [[bash true]]"),
		s.say("a failed answer", "fail [[fail 400]]"),
		s.say("a server that is busy", "busy [[fail 503 1]] [[once]]"),
	}
	if s.on != nil {
		list = append(list, goes("an interrupted answer", func(w *walk, c *talk) { w.interrupted(c, s.on(c, w.prompt("wait [[delay 60]]"))...) }))
	}
	if s.on != nil {
		list = append(list, act{"a session that goes on in the other home", func(w *walk) *talk {
			c := w.known()
			if c == nil || len(w.homes) < 2 {
				return nil
			}
			copied(w, c)
			w.runs(c, s.on(c, w.prompt("elsewhere"))...)
			return c
		}})
	}
	if s.fork != nil {
		list = append(list, act{"a fork", func(w *walk) *talk {
			c := w.known()
			if c == nil {
				return nil
			}
			c.from = c.id
			c.id = uuid(w.T)
			return s.named(c, w.runs(c, s.fork(c, w.prompt("fork"))...))
		}})
	}
	if s.sumUp != "" {
		list = append(list, goes("a compaction", func(w *walk, c *talk) { w.runs(c, s.on(c, s.sumUp)...) }))
	}
	if s.window > 0 && s.on != nil {
		list = append(list, goes("a full context", func(w *walk, c *talk) {
			w.runs(c, s.on(c, s.full(w, "full"))...)
			w.runs(c, s.on(c, w.prompt("after"))...)
		}))
	}
	if s.window > 0 {
		list = append(list, act{"a context that is full in a turn", func(w *walk) *talk {
			c := w.begin()
			return s.named(c, w.runs(c, s.first(c, s.full(w, "run [[bash true]]"))...))
		}})
	}
	if s.spawns {
		list = append(list, act{"a sub-agent", func(w *walk) *talk {
			inner := strings.NewReplacer("[[", "((", "]]", "))").Replace(w.usage())
			return s.say("", "delegate [[agent "+childPrompt+inner+"]]").do(w)
		}})
	}
	return append(list, more...)
}

func claudeNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--model", c.model, "--allowedTools", "Bash,Agent"}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, spawns: true,
		on:    func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) },
		sumUp: "/compact", window: 200_000,
		fork: func(c *talk, prompt string) []string {
			return flags(c, prompt, "--resume", c.from, "--fork-session", "--session-id", c.id)
		}}
	return numbered{release: ClaudeNewest, homes: "CLAUDE_CONFIG_DIR", folder: ".claude", silent: true, models: []string{"claude-sonnet-5-5", "claude-haiku-5-5"},
		acts: says.acts(),
		unstored: []unstored{titles, {"the summary of a compaction", "no record of it in the transcript (2.1.332)",
			func(q *modelserver.Request) bool {
				return strings.Contains(q.Prompt, "detailed summary of the conversation")
			}}},
		prepare: func(w *walk) {
			data := must.Get(os.ReadFile(filepath.Join(w.Home, ".claude.json")))(w.T)
			must.Do(w.T, os.WriteFile(filepath.Join(w.homes[1], ".claude.json"), data, 0o600))
		}}
}

func copilotNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--allow-all-tools", "--allow-all-paths", "--model", c.model, "--no-auto-update"}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, spawns: true,
		on: func(c *talk, prompt string) []string { return flags(c, prompt, "--resume="+c.id) }, sumUp: "/compact"}
	return numbered{release: CopilotNewest, homes: "COPILOT_HOME", folder: ".copilot", models: []string{"claude-sonnet-4.6"}, acts: says.acts(), unstored: []unstored{titles},
		prepare: func(w *walk) {
			w.extraEnv = append(w.extraEnv, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL="+w.Server.URL(), "COPILOT_MODEL=claude-sonnet-4.6")
		}}
}

func geminiNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", prompt, "--approval-mode", "yolo", "-m", c.model}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, spawns: true,
		on: func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) }, window: 1_000_000}
	return numbered{release: GeminiNewest, homes: "GEMINI_CLI_HOME", folder: ".gemini", models: []string{"gemini-3.8-flash", "gemini-3.8-pro"}, apart: true, acts: says.acts(),
		unstored: []unstored{titles},
		prepare: func(w *walk) { // a start deletes sessions of its folder that it takes for damaged or empty (0.61.0)
			for _, home := range []string{filepath.Join(w.Home, w.folder), w.homes[1]} {
				w.edit(filepath.Join(home, "settings.json"), `"general":{`, `"general":{"sessionRetention":{"enabled":false},`)
			}
		}}
}

func qwenNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"--output-format", "json", "--approval-mode", "yolo", "-m", c.model, "-p", prompt}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, spawns: true,
		on: func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) },
		id: regexp.MustCompile(`"session_id": ?"([0-9a-f-]{36})"`), sumUp: "/compress", window: 175_000,
		fork: func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.from, "--fork-session") }}
	return numbered{release: QwenNewest, homes: "QWEN_HOME", folder: ".qwen", models: []string{mockModel, secondModel}, acts: says.acts(),
		unstored: []unstored{titles}}
}

func piNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", "--model", mockProvider + "/" + c.model, prompt}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, window: mockWindow,
		on:   func(c *talk, prompt string) []string { return flags(c, prompt, "--session", c.id) },
		fork: func(c *talk, prompt string) []string { return flags(c, prompt, "--fork", c.from, "--session-id", c.id) }}
	// As the extension pi-subagents starts its sub-agents: with a folder below that of the session for their files, which it names after the session's.
	child := func(name string, args func(file string) []string, names ...string) act {
		return goes(name, func(w *walk, c *talk) {
			found := must.Get(filepath.Glob(filepath.Join(w.Home, w.folder, "sessions", "*", "*_"+c.id+".jsonl")))(w.T)
			if len(found) == 0 {
				return
			}
			dir := filepath.Join(append([]string{strings.TrimSuffix(found[0], ".jsonl")}, names...)...)
			w.runs(c, append(args(found[0]), "--session-dir", dir, w.prompt("child"))...)
		})
	}
	return numbered{release: PiNewest, folder: ".pi/agent", models: []string{mockModel}, unstored: []unstored{titles}, acts: says.acts(
		child("a sub-agent", func(string) []string { return []string{"-p"} }, "worker", "run-0"),
		child("a sub-agent with the history", func(file string) []string { return []string{"-p", "--fork", file} }, "forks"))}
}

// openCodeNumbers returns the walk of OpenCode, or of Kilo, which has its commands.
func openCodeNumbers(r Release) numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append(append([]string{"run", "--format", "json", "-m", mockProvider + "/" + c.model}, more...), prompt)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt) }, id: regexp.MustCompile(`"sessionID":"(ses_\w+)"`), spawns: true,
		on:   func(c *talk, prompt string) []string { return flags(c, prompt, "--session", c.id) },
		fork: func(c *talk, prompt string) []string { return flags(c, prompt, "--session", c.from, "--fork") }, window: mockWindow}
	return numbered{release: r, folder: ".local/share/" + r.Agent, models: []string{mockModel, secondModel}, apart: true, children: true, acts: says.acts(),
		unstored: []unstored{titles},
		prepare: func(w *walk) {
			w.edit(filepath.Join(w.Home, ".config", r.Agent, r.Agent+".json"), `"models":{`,
				`"models":{"`+secondModel+`":{"name":"Second","tool_call":true,"limit":{"context":128000,"output":8192}},`)
		}}
}

// clineNumbers returns the walk of Cline, which resumes conversations in terminals only.
func clineNumbers() numbered {
	says := speech{spawns: true, window: mockWindow, id: regexp.MustCompile(`(\d{13}_\w+)`), first: func(c *talk, prompt string) []string {
		return []string{"--json", "--auto-approve", "true", "-m", c.model, prompt}
	}}
	return numbered{release: ClineNewest, folder: ".cline/data", silent: true, keyed: true, models: []string{mockModel, secondModel}, acts: says.acts(
		act{"an interrupted answer", func(w *walk) *talk {
			c := w.begin()
			w.interrupted(c, says.first(c, w.prompt("wait [[delay 60]]"))...)
			return nil
		}}), unstored: []unstored{titles}, prepare: func(w *walk) { w.extraEnv = append(w.extraEnv, "CLINE_SESSION_BACKEND_MODE=local") }}
}

func grokNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"--always-approve", "-m", map[string]string{mockModel: "mock", secondModel: "second"}[c.model], "-p", prompt}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt, "--session-id", c.id) }, spawns: true,
		on: func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) },
		fork: func(c *talk, prompt string) []string {
			return flags(c, prompt, "--resume", c.from, "--fork-session", "--session-id", c.id)
		}, sumUp: "/compact"}
	return numbered{release: GrokNewest, homes: "GROK_HOME", folder: ".grok", models: []string{mockModel, secondModel}, acts: says.acts(),
		unstored: []unstored{titles, {"what it asks after an answer, with the tools of the conversation", "not in what turn_completed states of the turn, which is the sum of the others (1.0.41)",
			func(q *modelserver.Request) bool { return q.Own }},
			summaries("no member of it in any record, and usage.json, its own count, states a call for each turn (1.0.41)",
				"Your task is to produce a faithful, concise summary", "This session is being continued")},
		prepare: func(w *walk) {
			for _, home := range []string{filepath.Join(w.Home, w.folder), w.homes[1]} {
				w.edit(filepath.Join(home, "config.toml"), "[cli]", `[model.second]
model = "`+secondModel+`"
base_url = "`+w.Server.URL()+`/v1"
name = "Mock Two"
api_key = "`+mockKey+`"
context_window = 128000

[cli]`)
			}
		}}
}

func kimiNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"--output-format", "stream-json", "-m", map[string]string{mockModel: mockProvider, secondModel: "second"}[c.model], "-p", prompt}, more...)
	}
	forked := regexp.MustCompile(`Forked to (\S+)`)
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt) }, id: regexp.MustCompile(`"(session_[0-9a-f]{8}-[0-9a-f-]+)"`), spawns: true,
		on: func(c *talk, prompt string) []string { return flags(c, prompt, "--session", c.id) }, window: mockWindow}
	return numbered{release: KimiNewest, homes: "KIMI_CODE_HOME", folder: ".kimi-code", silent: true, models: []string{mockModel, secondModel}, unstored: []unstored{titles},
		acts: says.acts(goes("a fork", func(w *walk, c *talk) {
			if m := forked.FindSubmatch(w.runs(c, "fork", "-y", c.id)); m != nil {
				c.id = string(m[1])
				w.runs(c, says.on(c, w.prompt("fork"))...)
			}
		})),
		prepare: func(w *walk) {
			for _, home := range []string{filepath.Join(w.Home, w.folder), w.homes[1]} {
				w.edit(filepath.Join(home, "config.toml"), "[models.", `[models.second]
provider = "`+mockProvider+`"
model = "`+secondModel+`"
max_context_size = 128000

[models.`)
			}
		}}
}

func ompNumbers() numbered {
	flags := func(c *talk, prompt string, more ...string) []string {
		return append([]string{"-p", "--mode", "json", "--approval-mode", "yolo", "--model", mockProvider + "/" + c.model, prompt}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return flags(c, prompt) }, spawns: true,
		id:   regexp.MustCompile(`"type":"session"[^\n]*?"id":"([0-9a-f-]{36})"`),
		on:   func(c *talk, prompt string) []string { return flags(c, prompt, "--resume", c.id) },
		fork: func(c *talk, prompt string) []string { return flags(c, prompt, "--fork", c.from) }, window: mockWindow}
	return numbered{release: OmpNewest, homes: "PI_CODING_AGENT_DIR", folder: ".omp/agent", models: []string{mockModel, secondModel}, acts: says.acts(),
		unstored: []unstored{titles, summaries("its record has the sizes of the context, and no usage (18.2.3)", "<critical>\nWrite a handoff document")},
		prepare: func(w *walk) {
			for _, home := range []string{filepath.Join(w.Home, w.folder), w.homes[1]} {
				w.edit(filepath.Join(home, "models.yml"), `"models":[`, `"models":[{"id":"`+secondModel+`","name":"Second","reasoning":false,"input":["text"],"contextWindow":128000,`+
					`"maxTokens":8192,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}},`)
			}
		}}
}
