package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/agents"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
)

// releases are those that a run with real agents needs.
var releases = []agents.Release{agents.Node, agents.ClaudeNewest, agents.CodexNewest, agents.OpenCodeNewest, agents.PiNewest,
	agents.CopilotNewest, agents.ClineNewest, agents.GeminiNewest, agents.QwenNewest, agents.KiloNewest, agents.GrokNewest, agents.KimiNewest, agents.OmpNewest}

// mostRealLive is how many sessions of a real agent there are: their start takes seconds of a processor each. Cline's hub, which the first one
// starts, would host a second one.
var mostRealLive = map[adapters.Name]int{agentname.ClaudeCode: 2, agentname.Codex: 2, agentname.OpenCode: 1, agentname.Pi: 2,
	copilot: 2, cline: 1, gemini: 2, qwen: 2, kilo: 1, agentname.Grok: 1, agentname.Kimi: 1, omp: 1}

// colour is the question that the model's server asks.
const colour = "Which colour?"

// realAgents returns those that run in a terminal, and Claude Code in an editor. The daemon of Codex and the hub of Cline host none: a
// session is a process here.
func realAgents(w *scene.Environment, box *agents.Sandbox, t *harness) []scene.Agent {
	trustAll(w, box)
	claude := claudeCode()
	list := []*realAgent{claude, codex(), openCode(), pi(), copilotCLI(), clineCLI(), geminiCLI(), qwenCode(), kiloCLI(), grokBuild(), kimiCode(box), ohMyPi(),
		wrappedCodex(box), wrappedOpenCode(box)}
	list = append(list, hiddenAgents()...)
	var all []scene.Agent
	for _, r := range list {
		r.world = w
		r.box = box
		r.identify = t.identify
		r.witnesses = t.witnesses
		r.signs, _ = screen.Load(r.release.Screen()) // a release without them is known by what was done
		r.terminals, r.resumed = map[string]*agents.Terminal{}, map[string]bool{}
		all = append(all, r)
	}
	all = append(all, &hostedAgent{realAgent: claude, machine: t.machine, hosts: map[string]*host{}})
	all = append(all, sharedAgents(list, t)...)
	only := strings.Fields(os.Getenv("ROLLCALL_HARNESS_ONLY"))
	return slices.DeleteFunc(all, func(one scene.Agent) bool { return len(only) > 0 && !slices.Contains(only, string(one.Name())) })
}

func claudeCode() *realAgent {
	mode := []string{"--permission-mode", "default"}
	return &realAgent{name: agentname.ClaudeCode, release: agents.ClaudeNewest, comm: "claude", ready: "? for shortcuts", exit: "/exit", chooses: true,
		begin:  func(id string) []string { return append([]string{"--session-id", id}, mode...) },
		reopen: func(id string) []string { return append([]string{"--resume", id}, mode...) },
		asks:   "Do you want to proceed?", question: colour, command: "[[bash touch %s]]", permit: "1"}
}

func codex() *realAgent {
	return &realAgent{name: agentname.Codex, release: agents.CodexNewest, comm: "codex", ready: "? for shortcuts", exit: "/quit", escapes: true,
		begin:  func(string) []string { return []string{"--no-daemon"} },
		reopen: func(id string) []string { return []string{"resume", "--no-daemon", id} },
		asks:   "Would you like to run the following command?", command: "[[bash touch ../%s]][[esc]]", permit: "y", plans: "Implement this plan?"}
}

func openCode() *realAgent {
	return &realAgent{name: agentname.OpenCode, release: agents.OpenCodeNewest, comm: "opencode", ready: "ctrl+p commands", exit: "/exit", escapes: true,
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"-s", id} },
		asks:   "Permission required", question: colour, command: "[[bash touch %s]]", permit: "Enter"}
}

func pi() *realAgent {
	return &realAgent{name: agentname.Pi, release: agents.PiNewest, comm: "pi", ready: "/128k", exit: "/quit", escapes: true,
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"--session", id} }}
}

func copilotCLI() *realAgent {
	return &realAgent{name: copilot, release: agents.CopilotNewest, argument: "/@github/copilot-", ready: "/ commands", exit: "/exit", dies: true,
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"--resume=" + id} },
		asks:   "Do you want to run this command?", command: "[[bash touch %s]]", permit: "Enter", inUse: "Session in use"}
}

func clineCLI() *realAgent {
	args := []string{"--auto-approve", "false", "--tui"}
	return &realAgent{name: cline, release: agents.ClineNewest, comm: ".cline", ready: "Auto-approve all disabled", exit: "/exit", escapes: true,
		daemon: "--cline-hub-daemon",
		begin:  func(string) []string { return args },
		reopen: func(id string) []string { return append([]string{"--id", id}, args...) },
		asks:   "Approve tool call?", command: "[[bash touch %s]]", permit: "y"}
}

// geminiCLI deletes a session that is resumed once more: 0.61.0 leaves a second file with its first line alone when it resumes a session in
// a later minute, and removes both at its next start in the folder.
func geminiCLI() *realAgent {
	return &realAgent{name: gemini, release: agents.GeminiNewest, argument: "--max-old-space-size", titles: true, ready: "Type your message", exit: "/quit",
		escapes: true, asksAgain: true, once: true,
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"--resume", id} },
		asks:   "Allow execution", question: colour, command: "[[bash touch %s]]", permit: "Enter"}
}

func qwenCode() *realAgent {
	mode := []string{"--approval-mode", "default"}
	return &realAgent{name: qwen, release: agents.QwenNewest, argument: "--expose-gc", titles: true, ready: "Type your message", exit: "/quit",
		escapes: true, takesBack: true,
		begin:  func(string) []string { return mode },
		reopen: func(id string) []string { return append([]string{"--resume", id}, mode...) },
		asks:   "Yes, allow once", command: "[[bash touch %s]]", permit: "Enter"}
}

// wrappedCodex is Codex as Nix installs it: what the command starts has another name.
func wrappedCodex(box *agents.Sandbox) *realAgent {
	r := codex()
	r.comm = ".codex-wrapped"
	r.argv = func(args []string) []string { return box.Renamed(agents.CodexNewest, ".codex-wrapped", args...) }
	return r
}

// wrappedOpenCode is OpenCode as Nix installs it: the kernel cuts the name of its process to 15 bytes.
func wrappedOpenCode(box *agents.Sandbox) *realAgent {
	r := openCode()
	r.comm = ".opencode-wrapp"
	r.argv = func(args []string) []string { return box.Renamed(agents.OpenCodeNewest, ".opencode-wrapped", args...) }
	return r
}

// kiloCLI is a fork of OpenCode.
func kiloCLI() *realAgent {
	r := openCode()
	r.name = kilo
	r.release = agents.KiloNewest
	r.comm = "kilo"
	r.ready = "Ask anything"
	return r
}

// grokBuild takes the prompt back where the user interrupts it before the first word of an answer.
func grokBuild() *realAgent {
	mode := []string{"--permission-mode", "default"}
	return &realAgent{name: agentname.Grok, release: agents.GrokNewest, comm: "grok", ready: "❯", exit: "/quit", escapes: true, escape: "C-c", takesBack: true,
		asksAgain: true, suggests: true,
		begin:  func(string) []string { return mode },
		reopen: func(id string) []string { return append([]string{"--resume", id}, mode...) },
		asks:   "No, reject", question: colour, command: "[[bash rm -rf %s]]", choice: "(●) Yes, proceed", permit: "Enter"}
}

func kimiCode(box *agents.Sandbox) *realAgent {
	return &realAgent{name: agentname.Kimi, release: agents.KimiNewest, comm: "kimi-code", titles: true, ready: "context:", exit: "/exit", escapes: true,
		trust:  box.TrustKimi,
		argv:   func(args []string) []string { return box.ByName(agents.KimiNewest, "kimi", args...) },
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"-r", id} },
		asks:   "Run this command?", question: colour, command: "[[bash touch %s]]", permit: "1"}
}

// ohMyPi records nothing before its first answer.
func ohMyPi() *realAgent {
	return &realAgent{name: omp, release: agents.OmpNewest, comm: "omp", titles: true, ready: "⬢ Mock", exit: "/exit", escapes: true, latent: true,
		begin:  func(string) []string { return nil },
		reopen: func(id string) []string { return []string{"--resume", id} },
		asks:   "Allow tool", command: "[[bash touch %s]]", permit: "Enter"}
}

// trustAll lets Claude Code, Codex and Copilot CLI ask nothing about the folders to come.
func trustAll(w *scene.Environment, box *agents.Sandbox) {
	path := filepath.Join(box.Home, ".claude.json")
	text := must.Get(os.ReadFile(path))(w)
	var settings map[string]any
	must.Do(w, json.Unmarshal(text, &settings))
	projects := settings["projects"].(map[string]any)
	config := must.Get(os.OpenFile(filepath.Join(box.Home, ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0))(w)
	defer config.Close()
	for i := range mostFolders {
		projects[w.Path("work", fmt.Sprintf("cl%d", i))] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}
		fmt.Fprintf(config, "\n[projects.%q]\ntrust_level = \"trusted\"\n", w.Path("work", fmt.Sprintf("co%d", i)))
	}
	text = must.Get(json.Marshal(settings))(w)
	must.Do(w, os.WriteFile(path, text, 0o600))
	text = must.Get(json.Marshal(map[string]any{"trustedFolders": []string{w.Path("work")}}))(w)
	must.Do(w, os.WriteFile(filepath.Join(box.Home, ".copilot", "config.json"), text, 0o600))
}
