package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/agents"
	"rollcall/internal/must"
	"rollcall/proc"
)

// realLimit is after how long the list must show what a real agent did.
const realLimit = 15 * time.Second

// mostFolders is how many sessions a run with real agents begins at most: their folders are trusted beforehand.
const mostFolders = 400

func areReal() bool { return os.Getenv("ROLLCALL_HARNESS_AGENTS") == "real" }

// releases are those that a run with real agents needs.
var releases = []agents.Release{agents.Node, agents.ClaudeNewest, agents.CodexNewest, agents.OpenCodeNewest, agents.PiNewest}

// realAgent plays an agent by the agent itself: in a terminal, and against a model that answers when the script says so.
type realAgent struct {
	world     *scene.Environment
	box       *agents.Sandbox
	name      adapters.Name
	release   agents.Release
	comm      string // of its process
	ready     string // its screen takes prompts
	exit      string // the command that ends it
	open      func(id string) []string
	reopen    func(id string) []string
	asks      string // the screen that asks for a permission; empty: it never asks
	command   string // directives of a command that must be permitted
	permit    string // the key that does so
	escapes   int    // the keys that interrupt; 0: the prompt would be taken back
	chooses   bool   // the caller chooses the session's id
	identify  func(agent adapters.Name, prompt string) string
	terminals map[string]*agents.Terminal // by the folder
	asked     int
}

// realAgents returns those that run in a terminal. The daemon of Codex is left out: a session is a process here.
func realAgents(w *scene.Environment, box *agents.Sandbox, identify func(adapters.Name, string) string) []scene.Agent {
	mode := []string{"--permission-mode", "default"}
	trustAll(w, box)
	list := []*realAgent{
		{name: agentname.ClaudeCode, release: agents.ClaudeNewest, comm: "claude", ready: "? for shortcuts", exit: "/exit", chooses: true,
			open:   func(id string) []string { return append([]string{"--session-id", id}, mode...) },
			reopen: func(id string) []string { return append([]string{"--resume", id}, mode...) },
			asks:   "Do you want to proceed?", command: "[[bash touch %s]]", permit: "1"},
		{name: agentname.Codex, release: agents.CodexNewest, comm: "codex", ready: "? for shortcuts", exit: "/quit", escapes: 1,
			open:   func(string) []string { return []string{"--no-daemon"} },
			reopen: func(id string) []string { return []string{"resume", "--no-daemon", id} },
			asks:   "Would you like to run the following command?", command: "[[bash touch ../%s]][[esc]]", permit: "y"},
		{name: agentname.OpenCode, release: agents.OpenCodeNewest, comm: "opencode", ready: "ctrl+p commands", exit: "/exit", escapes: 2,
			open:   func(string) []string { return nil },
			reopen: func(id string) []string { return []string{"-s", id} },
			asks:   "Permission required", command: "[[bash touch %s]]", permit: "Enter"},
		{name: agentname.Pi, release: agents.PiNewest, comm: "pi", ready: "/128k", exit: "/quit", escapes: 1,
			open:   func(string) []string { return nil },
			reopen: func(id string) []string { return []string{"--session", id} }},
	}
	var all []scene.Agent
	for _, r := range list {
		r.world, r.box, r.identify, r.terminals = w, box, identify, map[string]*agents.Terminal{}
		all = append(all, r)
	}
	return all
}

// trustAll lets Claude Code and Codex ask nothing about the folders to come.
func trustAll(w *scene.Environment, box *agents.Sandbox) {
	path := filepath.Join(box.Home, ".claude.json")
	text, err := os.ReadFile(path)
	must.Do(w, err)
	var settings map[string]any
	must.Do(w, json.Unmarshal(text, &settings))
	projects := settings["projects"].(map[string]any)
	config, err := os.OpenFile(filepath.Join(box.Home, ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	must.Do(w, err)
	defer config.Close()
	for i := range mostFolders {
		projects[w.Path("work", fmt.Sprintf("cl%d", i))] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}
		fmt.Fprintf(config, "\n[projects.%q]\ntrust_level = \"trusted\"\n", w.Path("work", fmt.Sprintf("co%d", i)))
	}
	text, err = json.Marshal(settings)
	must.Do(w, err)
	must.Do(w, os.WriteFile(path, text, 0o600))
}

// Name, Store, Install and Start implement scene.Agent.
func (r *realAgent) Name() adapters.Name { return r.name }
func (r *realAgent) Store() string       { return "" }
func (r *realAgent) Install()            {}

func (r *realAgent) Start(cwd, prompt string) *scene.Session {
	id, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	must.Do(r.world, err)
	s := scene.Played(r.name, strings.TrimSpace(string(id)), cwd, r)
	s.Process = r.run(s, r.open(s.ID))
	r.Prompt(s, prompt)
	if !r.chooses {
		s.ID = r.identify(r.name, prompt)
	}
	return s
}

// run opens a terminal for the session, and returns the agent's own process in it.
func (r *realAgent) run(s *scene.Session, args []string) proc.Identity {
	terminal := r.box.Open(append([]string{"env", "-C", s.CWD}, r.box.Argv(r.release, args...)...)...)
	terminal.Shows(r.ready)
	r.terminals[s.CWD] = terminal
	p, err := r.world.Table.Find(r.box.Descendant(terminal.PID(), r.comm).PID)
	must.Do(r.world, err)
	return p.Identity
}

// held is the name of the session's answers.
func held(s *scene.Session) string { return filepath.Base(s.CWD) }

// Prompt and the following implement scene.Steps.
func (r *realAgent) Prompt(s *scene.Session, text string) {
	terminal := r.terminals[s.CWD]
	if past := s.Past(); len(past) > 1 && past[len(past)-2].Status == adapters.Waiting {
		terminal.Dismiss(r.permit, r.asks)
		return
	}
	terminal.Prompt(fmt.Sprintf("%s [[hold %s]]", text, held(s)))
}

func (r *realAgent) Answer(s *scene.Session, text string) {
	r.answerWith(s, "[[say "+text+"]]")
	r.terminals[s.CWD].Shows(text)
}

func (r *realAgent) Ask(s *scene.Session) {
	r.asked++
	r.answerWith(s, fmt.Sprintf(r.command, "asked-"+strconv.Itoa(r.asked)))
	r.terminals[s.CWD].Shows(r.asks)
}

func (r *realAgent) WaitsFor() adapters.WaitingFor {
	if r.asks == "" {
		return ""
	}
	return adapters.ForPermission
}

func (r *realAgent) Interrupts() bool { return r.escapes > 0 }

func (r *realAgent) Interrupt(s *scene.Session) {
	for range r.escapes {
		r.terminals[s.CWD].Press("Escape")
	}
}

func (r *realAgent) Exit(s *scene.Session) {
	r.terminals[s.CWD].Enter(r.exit)
	r.box.Gone(agents.Process{PID: s.Process.PID})
}

func (r *realAgent) Kill(s *scene.Session) {
	p := agents.Process{PID: s.Process.PID}
	r.box.Signal(p, unix.SIGKILL)
	r.box.Gone(p)
}

func (r *realAgent) Resume(s *scene.Session, prompt string) {
	s.Process = r.run(s, r.reopen(s.ID))
	r.Prompt(s, fmt.Sprintf("%s, %d", prompt, len(r.box.Server.Requests())))
}

// answerWith lets the model answer the session's request.
func (r *realAgent) answerWith(s *scene.Session, directives string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must.Do(r.world, r.box.Server.Release(ctx, held(s), directives))
}

// identify returns the id of the session of a prompt as Rollcall lists it: the agent chooses it.
func (t *harness) identify(agent adapters.Name, prompt string) (id string) {
	t.Helper()
	t.until("a new session is not listed", realLimit, func() []string {
		for _, x := range t.rollcall.list().Sessions {
			if x.Agent == string(agent) && strings.HasPrefix(x.FirstPrompt, prompt+" [[hold") {
				id = x.ID
				return nil
			}
		}
		return []string{string(agent) + ": " + prompt}
	})
	return id
}
