//go:build agents && linux

package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// launchAnswerable launches an agent in the background that can be answered.
func launchAnswerable(t *testing.T, r Release, prompt string) (*Launcher, LaunchRecord) {
	t.Helper()
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), r)
	if r.Agent == "claude-code" { // touch must be asked for
		settings := map[string]any{"env": map[string]string{"ANTHROPIC_BASE_URL": l.Server.URL(), "ANTHROPIC_API_KEY": mockKey}}
		must.Do(t, writeJSON(filepath.Join(l.Home, ".claude", "settings.json"), settings))
	}
	record := l.Launch(prompt, "--answerable")
	return l, record
}

// A Claude Code that Rollcall launched is answered, prompted and interrupted through its input, which no other program holds:
// also after the keeper was killed.
func TestAnswerClaudeLaunched(t *testing.T) {
	l, record := launchAnswerable(t, ClaudeNewest, "allow me [[bash touch ../allowed.txt]]")
	s, id := l.Sandbox, record.Session
	first := s.asks("touch ../allowed.txt")
	if first.Kind != "command" || first.Folder != s.Project || !first.CanAllow || !first.CanDeny || first.Session.ID != id {
		t.Errorf("%+v", first)
	}
	s.answered(first, "--allow")
	s.made(filepath.Join(s.Home, "allowed.txt"))
	s.stale(first)
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")

	s.rollcall("send", id, "-p", "deny me [[bash touch ../denied.txt]]")
	second := s.asks("touch ../denied.txt")
	s.stale(first)
	if output, err := s.Command(headlessBinary, "send", id, "-p", "too early").CombinedOutput(); err == nil || !strings.Contains(string(output), "--queue") {
		t.Errorf("%v: %s", err, output)
	}
	s.answered(second, "--deny", "-m", "use another name")
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	s.notMade(filepath.Join(s.Home, "denied.txt"))
	if !strings.Contains(transcript(s, id), "use another name") {
		t.Error("the message of the denial did not reach the agent")
	}

	s.rollcall("send", id, "-p", "ask me [[ask]]")
	question := s.asks("Which colour?")
	if question.Kind != "question" || !question.CanReply || question.CanAllow || len(question.Questions) != 1 {
		t.Fatalf("%+v", question)
	}
	s.answered(question, "--option", "2")
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	if want := question.Questions[0].Options[1].Label; !strings.Contains(transcript(s, id), `=\"`+want) {
		t.Errorf("the answer %s did not reach the agent", want)
	}

	l.killKeeper()
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Asked("long job")
	s.Becomes(byID(id), time.Now(), soon, "working")
	s.rollcall("send", id, "--queue", "-p", "queued job")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed", "idle/interrupted", "working")
	s.Asked("queued job")
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	l.rollcallStops(record)
}

// rollcallStops stops a launch and checks that nothing private is left.
func (l *Launcher) rollcallStops(record LaunchRecord) {
	l.t.Helper()
	if said := l.Rollcall("stop", l.Record(record.ID).Session); said.Code != 0 {
		l.t.Errorf("stop: %v", said)
	}
	l.Recorded(record.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
	for _, kind := range []string{".pipe", ".key", ".in"} {
		path := l.state("logs", record.ID+kind)
		if err := poll(20*time.Second, func() bool { _, err := os.Lstat(path); return errors.Is(err, fs.ErrNotExist) }); err != nil {
			l.t.Errorf("%s is left: %v", path, err)
		}
	}
}

// killKeeper kills the keeper of the sandbox.
func (l *Launcher) killKeeper() {
	l.t.Helper()
	killed := false
	for _, p := range l.Processes() {
		if len(p.Args) > 1 && p.Args[1] == "keep" {
			l.Signal(p, unix.SIGKILL)
			killed = true
		}
	}
	if !killed {
		l.t.Error("no keeper was found")
	}
}

// A Pi that Rollcall launched is prompted through its input.
func TestPromptPiLaunched(t *testing.T) {
	l, record := launchAnswerable(t, PiNewest, "first job")
	s := l.Sandbox
	idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
	s.rollcall("send", idle.ID, "-p", "second job [[delay 4]]")
	s.Asked("second job")
	s.rollcall("send", idle.ID, "--queue", "-p", "third job")
	s.Asked("third job")
	s.Becomes(byID(idle.ID), time.Now(), soon, "idle", "idle/completed")
	s.rollcall("send", idle.ID, "--queue", "-p", "fourth job [[delay 300]]")
	s.Asked("fourth job")
	s.Becomes(byID(idle.ID), time.Now(), soon, "working")
	s.rollcall("interrupt", idle.ID)
	s.Becomes(byID(idle.ID), time.Now(), soon, "idle/interrupted")
	l.rollcallStops(record)
}

func TestAnswerableRefused(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), CodexNewest)
	if said := l.Rollcall("launch", "codex", "-p", "x", "--answerable"); said.Code != 1 || !strings.Contains(said.Err, "can't be answered") {
		t.Errorf("%v", said)
	}
}

// openLaunchedOpenCode opens a terminal in which rollcall launches OpenCode.
func openLaunchedOpenCode(t *testing.T, l *Launcher) (*Launcher, *Terminal) {
	t.Helper()
	err := writeJSON(filepath.Join(l.Project, "opencode.json"), map[string]any{"permission": map[string]any{
		"bash": "ask", "external_directory": "allow"}})
	must.Do(t, err)
	terminal := l.Open("env", "PATH="+l.bin+":"+os.Getenv("PATH"), headlessBinary, "launch", "opencode", "--terminal")
	terminal.Shows("Ask anything")
	return l, terminal
}

var portArgument = regexp.MustCompile(`--port\x00([0-9]+)\x00`)

// An OpenCode that Rollcall launched in a terminal is answered through its own port, for which others lack the password.
func TestAnswerOpenCodeLaunched(t *testing.T) {
	each(t, []Release{OpenCodeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		l, terminal := openLaunchedOpenCode(t, NewLauncher(s, r))
		terminal.Prompt("allow me [[bash touch ../allowed.txt]]")
		first := s.asks("touch ../allowed.txt")
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Home, "allowed.txt"))
		s.stale(first)
		s.Becomes(byPrompt("allow me"), time.Now(), soon, "idle", "idle/completed")

		argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", first.Session.PID))
		m := portArgument.FindSubmatch(argv)
		if err != nil || m == nil {
			t.Fatalf("%v: %q has no port", err, argv)
		}
		response := must.Get(http.Get("http://127.0.0.1:" + string(m[1]) + "/session/status"))(t)
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("without the password: %s", response.Status)
		}
		keys, _ := filepath.Glob(l.state("logs", "*.key"))
		if len(keys) != 1 {
			t.Fatalf("passwords: %v", keys)
		}
		if info, err := os.Stat(keys[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}

		id := first.Session.ID
		s.rollcall("send", id, "-p", "deny me [[bash touch ../denied.txt]]")
		second := s.asks("touch ../denied.txt")
		s.answered(second, "--deny", "-m", "use another name")
		s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed", "idle/interrupted", "idle/failed")
		s.notMade(filepath.Join(s.Home, "denied.txt"))
		s.rollcall("send", id, "-p", "long job [[delay 300]]")
		s.Asked("long job")
		s.rollcall("interrupt", id)
		s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	})
}

// The terminal interface gets no port where the setting is answering = off.
func TestLaunchOpenCodeWithoutPort(t *testing.T) {
	nightly(t)
	Need(t)
	built(t, headlessBinary)
	s := NewSandbox(t)
	config := filepath.Join(s.Home, ".config", "rollcall", "config.toml")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte("answering = \"off\"\n"), 0o600)))
	l, terminal := openLaunchedOpenCode(t, NewLauncher(s, OpenCodeNewest))
	agent := l.Descendant(terminal.PID(), "opencode")
	if argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", agent.PID)); err != nil || portArgument.Match(append(argv, 0)) {
		t.Errorf("%v: started as %q", err, argv)
	}
	if keys, _ := filepath.Glob(l.state("logs", "*.key")); len(keys) > 0 {
		t.Errorf("passwords: %v", keys)
	}
}

func TestAnswerRacesClaudeLaunched(t *testing.T) {
	nightly(t)
	l, record := launchAnswerable(t, ClaudeNewest, "hello")
	s := l.Sandbox
	s.Becomes(byID(record.Session), time.Now(), soon, "idle", "idle/completed")
	x := &racer{s: s, prefix: "../", stops: true}
	x.ask = func(command string) { s.rollcall("send", record.Session, "--queue", "-p", "[[bash "+command+"]]") }
	x.deny = func(request) { s.rollcall("interrupt", record.Session) }
	x.run()
}

func TestAnswerRacesOpenCodeLaunched(t *testing.T) {
	nightly(t)
	Need(t)
	built(t, headlessBinary)
	l, terminal := openLaunchedOpenCode(t, NewLauncher(NewSandbox(t), OpenCodeNewest))
	x := &racer{s: l.Sandbox, prefix: "../", ask: func(command string) { terminal.Prompt("[[bash " + command + "]]") }}
	x.deny = func(request) { // the user in the terminal
		if strings.Contains(terminal.Screen(), "Permission required") {
			terminal.Press("Escape")
		}
	}
	x.run()
}
