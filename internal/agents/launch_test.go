//go:build agents && linux

package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/internal/must"
)

// The prompt of a launch, with everything that a shell would make something of.
const metaPrompt = `do it; $(touch pwned) && "quoted" 'single' \back | & > out < in * ? ~ ${HOME} $HOME %s !! #x ` + "`touch pwned`\n- second line"

// launched runs a test with every agent that rollcall launches.
func launched(t *testing.T, test func(*testing.T, *Launcher)) {
	for _, release := range []Release{ClaudeNewest, CodexNewest, OpenCodeNewest, PiNewest} {
		t.Run(release.String(), func(t *testing.T) {
			Need(t)
			built(t, headlessBinary)
			test(t, NewLauncher(NewSandbox(t), release))
		})
	}
	t.Run("pi-rust", func(t *testing.T) { t.Skip("pi_agent_rust is in no package registry that the tests install from") })
}

func TestLaunchInBackground(t *testing.T) {
	launched(t, func(t *testing.T, l *Launcher) {
		link := filepath.Join(l.Home, "link")
		child := filepath.Join(l.Project, "sub")
		must.Do(t, os.Symlink(l.Project, link))
		must.Do(t, os.Mkdir(child, 0o755))
		prompt := metaPrompt + " [[delay 60]]"
		r := l.Launch(prompt, "--group", "g-1", "--cwd", link)
		if got := l.Answered(prompt).Prompt; strings.TrimSpace(got) != prompt {
			t.Errorf("the model was asked %q, want %q", got, prompt)
		}
		s, agent := l.Own(r.ID)
		if s.Launch.Group != "g-1" || s.Launch.Prompt != prompt || s.CWD != l.Project || s.LastPrompt != "" && !strings.HasPrefix(metaPrompt, s.LastPrompt[:5]) {
			t.Errorf("listed as %+v of launch %+v", s, s.Launch)
		}
		for _, file := range []string{"pwned", "out"} {
			if _, err := os.Lstat(filepath.Join(l.Project, file)); err == nil {
				t.Errorf("a shell read the prompt: there is a file %s", file)
			}
		}
		// An agent that starts for longer than launch waits is recorded by the tray.
		want := l.Record(r.ID).Session
		locks := l.Locks()
		if want != "" && want != s.ID || len(locks) != 1 || locks[0].Path != l.Project || locks[0].Kind != "auto" || locks[0].Session != want {
			t.Errorf("record of session %q, locks %+v, want one on %s of session %s, process %d", want, locks, l.Project, s.ID, agent.PID)
		}
		for _, folder := range []string{l.Project, link, filepath.Join(link, "sub"), child, l.Home} {
			said := l.Rollcall("launch", l.Release.Agent, "-p", "again", "--cwd", folder)
			if said.Code != 10 || !strings.Contains(said.Err, cmp.Or(want, fmt.Sprintf("process %d", r.Process.PID))) {
				t.Errorf("a second one into %s: %v; want exit code 10 with the session or the process", folder, said)
			}
		}
		forced := l.Launch("forced in [[delay 1]]", "--force")
		l.Answered("forced in")
		l.Recorded(r.ID, "going on", func(r LaunchRecord) bool { return !r.Ended() })
		if forced.ID == r.ID {
			t.Error("the forced launch took the place of the first")
		}
	})
}

// What a launch leaves out of the environment is not in that of the agent.
func TestLaunchEnvironment(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %t", keep), func(t *testing.T) {
			l := NewLauncher(NewSandbox(t), ClaudeNewest)
			var flags []string
			if keep {
				flags = append(flags, "--keep-env")
			}
			r := l.Launch("look around [[delay 60]]", flags...)
			_, agent := l.Own(r.ID)
			environment := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/environ", agent.PID)))(t)
			environment = append([]byte{0}, environment...)
			if bytes.Contains(environment, []byte("\x00ANTHROPIC_")) != keep {
				t.Errorf("with keep %t its environment is %q", keep, bytes.Split(environment, []byte{0}))
			}
			if !bytes.Contains(environment, []byte("ROLLCALL_LAUNCH="+r.ID+"\x00")) {
				t.Error("its environment does not name the launch")
			}
		})
	}
}

// A session that is over goes on with another message.
func TestLaunchResume(t *testing.T) {
	launched(t, func(t *testing.T, l *Launcher) {
		var remembered atomic.Bool
		l.Server.Observe(func(_ string, body []byte) {
			if bytes.Contains(body, []byte("the second")) && bytes.Contains(body, []byte("the first")) {
				remembered.Store(true)
			}
		})
		r := l.Launch("the first [[delay 3]]")
		s, agent := l.Own(r.ID)
		if said := l.Rollcall("resume", s.ID, "-p", "too early"); said.Code == 0 || !strings.Contains(said.Err, "is still running") {
			t.Errorf("resume of a live one: %v", said)
		}
		l.vanished(agent) // a process in its last moments still has its folder
		l.Becomes(byID(s.ID), time.Now(), soon, "stopped/completed")
		if locks := l.Locks(); len(locks) != 0 {
			t.Errorf("after the end: locks %+v", locks)
		}
		said := l.Rollcall("resume", s.ID, "-p", "the second [[delay 3]]")
		m := startedPattern.FindStringSubmatch(said.Out)
		if m == nil {
			t.Fatalf("not resumed: %v", said)
		}
		again, agent := l.Own(m[1])
		if again.ID != s.ID || m[1] == r.ID {
			t.Errorf("resumed as session %s in launch %s, want %s in another than %s", again.ID, m[1], s.ID, r.ID)
		}
		l.Gone(agent)
		done := l.Becomes(byID(s.ID), time.Now(), soon, "stopped/completed")
		if !strings.HasPrefix(done.FirstPrompt, "the first") || !remembered.Load() {
			t.Errorf("it does not remember: began with %q, told the model of it: %t", done.FirstPrompt, remembered.Load())
		}
	})
}

// stops are the modes in which an agent runs a command without asking, the
// signal that ends it gracefully, and what it then says of itself.
var stops = map[Release]struct {
	flags  []string
	signal string
	states []string
}{
	ClaudeNewest:   {nil, "interrupt", []string{"stopped/interrupted"}},
	CodexNewest:    {[]string{"--mode", "danger-full-access", "--yes"}, "interrupt", []string{"stopped/interrupted"}},
	OpenCodeNewest: {nil, "terminate", []string{"stopped/died"}},
	PiNewest:       {nil, "terminate", []string{"stopped/interrupted"}},
}

// A stop ends the agent in its own way, and the command that it runs.
func TestLaunchStop(t *testing.T) {
	launched(t, func(t *testing.T, l *Launcher) {
		how := stops[l.Release]
		r := l.Launch("run it [[bash "+l.longJob()+"]]", how.flags...)
		command := l.Agent("sleep", "301")
		s, agent := l.Own(r.ID)
		said := l.Rollcall("stop", s.ID)
		words := map[string]string{"interrupt": ": it ended when interrupted (SIGINT)\n", "terminate": ": it ended when asked to (SIGTERM)\n"}[how.signal]
		if said.Code != 0 || !strings.Contains(said.Out, "\nstopped ") || !strings.Contains(said.Out, words) {
			t.Errorf("%v; want it stopped by %s", said, how.signal)
		}
		l.vanished(agent)
		l.Gone(command)
		l.Becomes(byID(s.ID), time.Now(), soon, how.states...)
		if l.Release == ClaudeNewest && !strings.Contains(transcript(l.Sandbox, s.ID), "[Request interrupted by user") {
			t.Error("the transcript does not say that it was interrupted")
		}
		if locks := l.Locks(); len(locks) != 0 {
			t.Errorf("after the stop: locks %+v", locks)
		}
		left := slices.DeleteFunc(l.Processes(), func(p Process) bool { return p.Comm == "git" || p.Comm == "rollcall" }) // the keeper
		if len(left) > 0 {
			t.Errorf("left running: %v", left)
		}
		if said := l.Rollcall("stop", s.ID); said.Code == 0 || !strings.Contains(said.Err, "not running") {
			t.Errorf("a second stop: %v", said)
		}
	})
}

// A thread of Codex's daemon is stopped by the daemon, which goes on with others.
func TestLaunchStopCodexThread(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), CodexNewest)
	first, second := openCodex(l.Sandbox, CodexNewest), openCodex(l.Sandbox, CodexNewest)
	first.Prompt("the one [[delay 90]]")
	second.Prompt("the other [[delay 90]]")
	daemon := host(l.Sandbox, CodexNewest, first)
	one := l.Becomes(byPrompt("the one"), time.Now(), soon, "working")
	l.Becomes(byPrompt("the other"), time.Now(), soon, "working")
	said := l.Rollcall("stop", one.ID)
	if said.Code != 0 || !strings.Contains(said.Out, fmt.Sprintf("\nthe shared process %d stopped it ", daemon.PID)) {
		t.Errorf("%v; want it stopped by the daemon, %d", said, daemon.PID)
	}
	l.Becomes(byID(one.ID), time.Now(), soon, "idle/interrupted")
	l.Stays(byPrompt("the other"), 2*time.Second, "working")
	if now := host(l.Sandbox, CodexNewest, first); now.PID != daemon.PID {
		t.Errorf("the daemon is %v, was %v", now, daemon)
	}
}

// Two agents work on the same prompt, each in a worktree of its own, and are set
// side by side.
func TestLaunchGroup(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), ClaudeNewest)
	l.Install(OpenCodeNewest, "")
	said := l.Rollcall("launch", "claude-code", "opencode", "--group", "g-7", "-p", "both of you [[bash touch made.txt]]")
	if said.Code != 0 || strings.Count(said.Out, ": started l-") != 2 || !strings.Contains(said.Out, "rollcall compare g-7") {
		t.Fatalf("not launched: %v", said)
	}
	type try struct {
		Worktree struct {
			Path      string `json:"path"`
			Branch    string `json:"branch"`
			Untracked int    `json:"untracked"`
		} `json:"worktree"`
		Session *Session `json:"session"`
	}
	var tries []try
	err := poll(60*time.Second, func() bool {
		said = l.Rollcall("compare", "g-7", "--json")
		var doc struct {
			Tries []try `json:"tries"`
		}
		if said.Code != 0 || json.Unmarshal([]byte(said.Out), &doc) != nil {
			return false
		}
		tries = doc.Tries
		return len(tries) == 2 && !slices.ContainsFunc(tries, func(x try) bool {
			return x.Session == nil || x.Session.state() != "stopped/completed" || x.Worktree.Untracked != 1
		})
	})
	if err != nil {
		t.Fatalf("not two that are done %v: %+v\n%v", err, tries, said)
	}
	agents := map[string]bool{}
	for _, x := range tries {
		agents[x.Session.Agent] = true
		if x.Session.CWD != x.Worktree.Path || x.Session.Branch != x.Worktree.Branch && x.Session.Branch != "" || x.Worktree.Path == l.Project {
			t.Errorf("%v in %s on %s, which is of %+v", x.Session, x.Session.CWD, x.Session.Branch, x.Worktree)
		}
		if _, err := os.Stat(filepath.Join(x.Worktree.Path, "made.txt")); err != nil {
			t.Error(err)
		}
	}
	if len(agents) != 2 || !agents["claude-code"] || !agents["opencode"] {
		t.Errorf("compared %v", agents)
	}
	if said := l.Rollcall("compare", "g-7"); said.Code != 0 || strings.Count(said.Out, "turn complete") != 2 {
		t.Errorf("compare: %v", said)
	}
	if _, err := os.Stat(filepath.Join(l.Project, "made.txt")); err == nil {
		t.Error("somebody worked in the repository itself")
	}
	if locks := l.Locks(); len(locks) != 0 {
		t.Errorf("after the end: locks %+v", locks)
	}
}
