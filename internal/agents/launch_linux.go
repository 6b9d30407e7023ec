package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/internal/modelserver"
)

// Launcher starts one agent through `rollcall launch`, as its user does: by the
// name of its program, found on the PATH.
type Launcher struct {
	*Sandbox
	Release Release
	bin     string // first on the PATH
}

// programNames are what the agents' programs are called, and their processes.
var programNames = map[string]string{"claude-code": "claude", "codex": "codex", "opencode": "opencode", "pi": "pi", "gemini": "gemini", "qwen": "qwen", "copilot": "copilot", "grok": "grok", "kimi": "kimi"}

// NewLauncher prepares a sandbox for launches of that agent. The model server of
// Claude Code stands in its settings, since a launch leaves the variables out.
func NewLauncher(s *Sandbox, r Release) *Launcher {
	s.t.Helper()
	l := &Launcher{Sandbox: s, Release: r, bin: filepath.Join(s.dir, "bin")}
	settings := map[string]any{
		"env":         map[string]string{"ANTHROPIC_BASE_URL": s.Server.URL(), "ANTHROPIC_API_KEY": mockKey},
		"permissions": map[string]any{"allow": []string{"Bash(" + l.longJob() + ")", "Bash(touch:*)"}},
	}
	err := errors.Join(os.MkdirAll(l.bin, 0o755),
		// Claude Code refuses to run a long sleep, and to read outside of the project.
		os.WriteFile(l.longJob(), []byte("#!/bin/sh\nexec sleep 301\n"), 0o755),
		writeJSON(filepath.Join(s.Home, ".claude", "settings.json"), settings))
	if err != nil {
		s.t.Fatal(err)
	}
	l.Install(r, "")
	s.t.Cleanup(l.logOutput)
	return l
}

// longJob returns a command that runs for long: "sleep 301".
func (l *Launcher) longJob() string { return filepath.Join(l.bin, "longjob") }

// logOutput logs the agents' output for a test that failed.
func (l *Launcher) logOutput() {
	logs, _ := filepath.Glob(l.state("logs", "*.log"))
	for _, path := range logs {
		if text, err := os.ReadFile(path); err == nil && l.t.Failed() {
			l.t.Logf("%s:\n%.6000s", filepath.Base(path), text)
		}
	}
}

// Install puts an agent's program on the PATH: itself, or a shell script that
// starts it with "$REAL" "$@".
func (l *Launcher) Install(r Release, script string) {
	l.t.Helper()
	l.link("node", Node.Program(l.cache))
	path := filepath.Join(l.bin, programNames[r.Agent])
	if script == "" {
		l.link(programNames[r.Agent], r.Program(l.cache))
		return
	}
	_ = os.Remove(path) // a link, perhaps, to the program itself
	text := fmt.Sprintf("#!/bin/sh\nREAL='%s'\n%s\n", r.Program(l.cache), script)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l *Launcher) link(name, to string) {
	l.t.Helper()
	path := filepath.Join(l.bin, name)
	_ = os.Remove(path)
	if err := os.Symlink(to, path); err != nil {
		l.t.Fatal(err)
	}
}

// Env returns the environment of the user who launches.
func (l *Launcher) Env() []string {
	return append(l.Sandbox.Env(), "PATH="+l.bin+":"+os.Getenv("PATH"))
}

// Said is what a run of rollcall printed.
type Said struct {
	Code     int
	Out, Err string
}

func (s Said) String() string {
	return fmt.Sprintf("exit code %d\n%s%s", s.Code, s.Out, s.Err)
}

// Rollcall runs rollcall in the project.
func (l *Launcher) Rollcall(args ...string) Said {
	l.t.Helper()
	var out, problems bytes.Buffer
	cmd := l.rollcall(args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatalf("rollcall %q: %v", args, err)
	}
	said := Said{cmd.ProcessState.ExitCode(), out.String(), problems.String()}
	l.t.Logf("rollcall %.300q: %v", args, said)
	return said
}

func (l *Launcher) rollcall(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.t.Context(), headlessBinary, args...)
	cmd.Dir, cmd.Env = l.Project, l.Env()
	return cmd
}

var (
	startedPattern = regexp.MustCompile(`(?m)^started (l-[0-9a-f]+), process (\d+)$`)
	sessionPattern = regexp.MustCompile(`(?m)^session (\S+); its log is `)
)

// Launch starts the agent in the project and returns its launch, once the
// session is known to rollcall.
func (l *Launcher) Launch(prompt string, flags ...string) LaunchRecord {
	l.t.Helper()
	said := l.Rollcall(slices.Concat([]string{"launch", l.Release.Agent, "-p", prompt}, flags)...)
	m := startedPattern.FindStringSubmatch(said.Out)
	if said.Code != 0 || m == nil {
		l.t.Fatalf("not launched: %v", said)
	}
	r := l.Record(m[1])
	if told := sessionPattern.FindStringSubmatch(said.Out); told == nil {
		l.t.Logf("the session was not known within the time that launch waits")
	} else if r.Session != told[1] {
		l.t.Errorf("told session %s, and recorded %q", told[1], r.Session)
	}
	return r
}

// LaunchRecord is what rollcall keeps on disk of a launch.
type LaunchRecord struct {
	ID      string      `json:"id"`
	Session string      `json:"session"`
	Process processID   `json:"process"`
	Former  []processID `json:"former"`
	Seen    bool        `json:"seen"`
	Prompt  string      `json:"prompt"`
	EndedAt time.Time   `json:"ended_at"`
	Hooks   []struct {
		Result string `json:"result"`
		Output string `json:"output"`
	} `json:"hooks"`
}

type processID struct {
	PID int `json:"pid"`
}

// Ended reports whether rollcall has noted the end of the launch.
func (r *LaunchRecord) Ended() bool { return !r.EndedAt.IsZero() }

func (l *Launcher) state(parts ...string) string {
	return filepath.Join(append([]string{l.Home, ".local", "state", "rollcall"}, parts...)...)
}

// Record reads the record of a launch.
func (l *Launcher) Record(id string) LaunchRecord {
	l.t.Helper()
	data, err := os.ReadFile(l.state("launches", id+".json"))
	if err != nil {
		l.t.Fatal(err)
	}
	var r LaunchRecord
	if err := json.Unmarshal(data, &r); err != nil {
		l.t.Fatalf("%v: %s", err, data)
	}
	return r
}

// Recorded waits until the record of a launch is as ok wants it.
func (l *Launcher) Recorded(id, what string, ok func(LaunchRecord) bool) LaunchRecord {
	l.t.Helper()
	var r LaunchRecord
	if err := poll(20*time.Second, func() bool { r = l.Record(id); return ok(r) }); err != nil {
		l.t.Fatalf("the record of %s: not %s %v: %+v", id, what, err, r)
	}
	return r
}

// LockedFolder is a lock as `rollcall locks --json` prints it.
type LockedFolder struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	PID     int    `json:"pid"`
	Session string `json:"session"`
}

// Locks runs `rollcall locks --json`.
func (l *Launcher) Locks() []LockedFolder {
	l.t.Helper()
	output, err := l.rollcall("locks", "--json").Output()
	var doc struct {
		Locks []LockedFolder `json:"locks"`
	}
	if err == nil {
		err = json.Unmarshal(output, &doc)
	}
	if err != nil {
		l.t.Fatalf("rollcall locks: %v: %s", err, output)
	}
	return doc.Locks
}

// LockFiles returns the locks that lie on disk, dead or alive: nobody asked rollcall,
// which removes the dead ones as it looks.
func (l *Launcher) LockFiles() []string {
	l.t.Helper()
	files, err := filepath.Glob(l.state("locks", "*.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	return files
}

// Answered returns the conversation's request with that prompt, once it is there.
func (l *Launcher) Answered(prompt string) modelserver.Request {
	l.t.Helper()
	l.Asked(prompt)
	for _, r := range l.Server.Requests() {
		if !r.Side && !r.Tool && strings.Contains(r.Prompt, prompt) {
			return r
		}
	}
	return modelserver.Request{}
}

// Launched is a session that came from a launch, as `rollcall list --json` prints
// it.
type Launched struct {
	Session
	Launch *struct {
		ID     string `json:"id"`
		Group  string `json:"group"`
		Prompt string `json:"prompt"`
	} `json:"launch"`
}

// Launched lists the sessions of a launch that are live, without their sub-agents.
func (l *Launcher) Launched(id string) []Launched {
	l.t.Helper()
	output, err := l.rollcall("list", "--json").Output()
	var doc struct {
		Sessions []Launched `json:"sessions"`
	}
	if err == nil {
		err = json.Unmarshal(output, &doc)
	}
	if err != nil {
		l.t.Fatalf("rollcall list: %v: %s", err, output)
	}
	return slices.DeleteFunc(doc.Sessions, func(s Launched) bool {
		return s.Launch == nil || s.Launch.ID != id || s.Parent != ""
	})
}

// Own waits until rollcall lists the one session of a launch as working, on the
// agent's own process, and returns both.
func (l *Launcher) Own(id string) (Launched, Process) {
	l.t.Helper()
	var list []Launched
	var agent Process
	err := poll(20*time.Second, func() bool {
		list = l.Launched(id)
		if len(list) != 1 || list[0].Status != "working" || list[0].ID == id {
			return false
		}
		var running bool
		agent, running = readProcess(fmt.Sprintf("/proc/%d", list[0].PID))
		return running && agent.Comm == programNames[l.Release.Agent]
	})
	if err != nil {
		l.t.Fatalf("launch %s: not one session that works in the agent's own process %v: %v, %v", id, err, list, agent)
	}
	return list[0], agent
}
