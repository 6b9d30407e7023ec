//go:build agents && linux

package agents

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// shownName returns the name of an agent in the menu.
func shownName(r Release) string { return present.AgentName(adapters.Name(r.Agent)) }

// unwatched is how soon something must be told that happens where no folder was
// watched before: the tray looks every 2 s and promises 3 s, and a busy machine may
// take as long again. TestAgentInANewHome measures it.
const unwatched = 6 * time.Second

// showsSoon is Shows for what began at a moment where no folder was watched.
func (t *tray) showsSoon(since time.Time, texts ...string) {
	t.s.t.Helper()
	t.Shows(texts...)
	if took, stalled := time.Since(since), pressure.StalledSince(since); took > unwatched+stalled {
		t.s.t.Errorf("a row with %q after %v, not within %v (machine stalled for %v)", texts, took, unwatched, stalled)
	}
}

// A second run in a folder where Pi ran before the tray started is shown, and its
// end is told: one without a terminal, and one in a terminal.
func TestTraySecondRunInFolder(t *testing.T) {
	desktop := newDesktop(t)
	for _, release := range chosen(pis) {
		t.Run(release.String(), func(t *testing.T) {
			s := NewSandbox(t)
			complete(s, release, "-p", "the first run")
			piWrote(s, 1)
			tray, told := startTray(s, desktop), follow(s)
			before := len(desktop.Shown())

			_, agent, asked := detachPi(s, release, "a second run [[delay 5]]")
			tray.showsSoon(asked, "proj", "Pi")
			s.Gone(agent)
			if n := tray.notified(before, asked, time.Now()); !strings.Contains(n.Body, "a second run") {
				t.Errorf("told %q, %q", n.Summary, n.Body)
			}
			if release == PiNewest { // the floor stores nothing of a run before its first answer, with which it ends
				told.tells(app.Started, "a second run")
			}
			told.tells(app.Ended, "a second run")
			if n := told.count(app.Ended, "a second run"); n != 1 {
				t.Errorf("the end of the second run is told %d times", n)
			}

			terminal, agent := openPi(s, release)
			opened := time.Now()
			tray.showsSoon(opened, "proj", "Pi")
			terminal.PromptUntil("a third run", "Mock answer to: a third run")
			tray.showsSoon(time.Now(), "○ proj", "Pi", "a third run")
			terminal.Leave("/quit", agent)
			tray.notified(before+1, opened, time.Now())
			told.tells(app.Started, "a third run")
			told.tells(app.Ended, "a third run")
			if state := told.lists("the first run"); state != "" {
				t.Errorf("the run of before is listed as %s", state)
			}
			tray.stop()
		})
	}
}

// elsewhere is an agent with a home in a place that nobody watches.
type elsewhere struct {
	release  Release
	variable string
	args     []string
	seed     func(s *Sandbox, home string) error
	prompt   string // empty: the agent asks for no permission
	asks     string // the screen while it asks
	key      string // that permits it
	ready    string // the screen when it takes prompts

}

var elsewheres = []elsewhere{
	{release: ClaudeNewest, variable: "CLAUDE_CONFIG_DIR", args: []string{"--permission-mode", "default"}, ready: "? for shortcuts",
		seed: func(s *Sandbox, home string) error {
			return copyFile(filepath.Join(s.Home, ".claude.json"), filepath.Join(home, ".claude.json"))
		},
		prompt: "claude elsewhere [[bash touch asked.txt]]", asks: "Do you want to proceed?", key: "1"},
	{release: CodexNewest, variable: "CODEX_HOME", ready: "? for shortcuts",
		seed: func(s *Sandbox, home string) error {
			own := filepath.Join(s.Home, ".codex")
			return errors.Join(copyFile(filepath.Join(own, "config.toml"), filepath.Join(home, "config.toml")),
				linkPackages(filepath.Join(own, "packages"), filepath.Join(home, "packages")))
		},
		prompt: "codex elsewhere [[bash touch ../asked.txt]][[esc]]", asks: "Would you like to run the following command?", key: "y"},
	{release: OpenCodeNewest, variable: "XDG_DATA_HOME", ready: "Ask anything",
		seed:   func(_ *Sandbox, home string) error { return os.Mkdir(home, 0o755) },
		prompt: "opencode elsewhere [[bash touch asked.txt]]", asks: "Permission required", key: "Enter"},
	{release: PiNewest, variable: "PI_CODING_AGENT_DIR", ready: "/128k",
		seed: func(s *Sandbox, home string) error {
			return os.CopyFS(home, os.DirFS(filepath.Join(s.Home, ".pi", "agent")))
		}},
}

// Agents that start, while the tray runs, with homes that it has never seen: their
// waits and their ends are told, and they stay listed as what they were.
func TestTrayHomesElsewhere(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray, told := startTray(s, desktop), follow(s)
	var ended []string
	for _, e := range elsewheres {
		home := filepath.Join(s.dir, "elsewhere-"+e.release.Agent)
		must.Do(t, e.seed(s, home))
		before := len(desktop.Shown())
		argv := append([]string{"env", e.variable + "=" + home}, s.Argv(e.release, e.args...)...)
		terminal := s.Open(argv...)
		terminal.Shows(e.ready)
		agent := s.Descendant(terminal.PID(), programNames[e.release.Agent])
		prompt, _, _ := strings.Cut(e.prompt, " [[")
		if prompt == "" {
			prompt = "pi elsewhere"
			terminal.PromptUntil(prompt, "Mock answer to: "+prompt)
		} else {
			asked := terminal.PromptUntil(e.prompt, e.asks)
			n := tray.notifiedWithin(unwatched, before, asked, time.Now())
			said := strings.Contains(n.Summary, "needs permission in proj") // or what it asks, where that can be read
			if !said && (!strings.Contains(n.Summary, "wants to run a command in proj") || !strings.Contains(n.Body, "asked.txt")) {
				t.Errorf("told %q, %q", n.Summary, n.Body)
			}
			before++
			terminal.Answer(e.key, "Done.")
		}
		tray.showsSoon(time.Now(), "○ proj", shownName(e.release))
		if e.release == CodexNewest {
			agent = host(s, e.release, terminal)
		}
		// The core of this test asks at other moments than the tray's, and knows nothing
		// of a home whose agent ended before it looked.
		if err := poll(20*time.Second, func() bool { return told.lists(prompt) != "" }); err != nil {
			t.Errorf("%s is not listed: %v", prompt, err)
		}
		tray.ended(before, agent)
		told.tells(app.Ended, prompt)
		ended = append(ended, prompt)
		for _, prompt := range ended {
			if state := told.lists(prompt); state != "stopped/completed" {
				t.Errorf("%s is listed as %q", prompt, state)
			}
		}
	}
	tray.stop()
}

// Claude Code's folder is renamed and comes back, and is replaced by a link that
// then leads elsewhere: what happens in it afterwards is told.
func TestTrayFolderMoved(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	s := NewSandbox(t)
	complete(s, ClaudeNewest, "-p", "before")
	folder, away := filepath.Join(s.Home, ".claude"), filepath.Join(s.Home, "away")
	tray := startTray(s, desktop)
	before := len(desktop.Shown())
	try := func(what string, terminal *Terminal, agent Process) {
		t.Helper()
		asked := terminal.PromptUntil(what+" [[bash touch asked.txt]]", "Do you want to proceed?")
		n := tray.notifiedWithin(unwatched, before, asked, time.Now())
		if !strings.Contains(n.Body, what) {
			t.Errorf("%s: told %q, %q", what, n.Summary, n.Body)
		}
		tray.ended(before+1, agent)
		before += 2
	}
	terminal, agent := openClaude(s, ClaudeNewest, uuid(t))
	tray.Shows("proj", "Claude Code")
	must.Do(t, os.Rename(folder, away))
	time.Sleep(5 * time.Second) // the tray looks every 2 s
	tray.quiet(before, "while the folder of a living agent is away")
	must.Do(t, os.RemoveAll(folder)) // the agent may have made it again
	must.Do(t, os.Rename(away, folder))
	try("renamed and back", terminal, agent)

	one, two := filepath.Join(s.Home, "one"), filepath.Join(s.Home, "two")
	must.Do(t, os.Rename(folder, one))
	must.Do(t, os.Symlink(one, folder))
	terminal, agent = openClaude(s, ClaudeNewest, uuid(t))
	try("behind a link", terminal, agent)

	must.Do(t, os.CopyFS(two, os.DirFS(one)))
	must.Do(t, os.Symlink(two, folder+"-new"))
	must.Do(t, os.Rename(folder+"-new", folder))
	terminal, agent = openClaude(s, ClaudeNewest, uuid(t))
	try("behind a link that leads elsewhere", terminal, agent)
	if _, err := os.Stat(filepath.Join(two, "sessions")); errors.Is(err, fs.ErrNotExist) {
		t.Error("nothing was written where the link leads")
	}
	tray.stop()
}

// Agents that are suspended in mid-turn are shown so, and nothing is told; they
// work on once they continue, and their deaths are told.
func TestTraySuspended(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	agents := map[Release]Process{}
	for _, release := range []Release{ClaudeNewest, CodexNewest, OpenCodeNewest, PiNewest} {
		_, agents[release] = detach(s, release, "tray "+release.Agent+" [[delay 300]]")
	}
	tray := startTray(s, desktop)
	before := len(desktop.Shown())
	all := func(signal unix.Signal, texts ...string) {
		t.Helper()
		sent := time.Now()
		for _, agent := range agents {
			s.Signal(agent, signal)
		}
		for release := range agents {
			tray.showsSoon(sent, append(texts, "proj", "· "+shownName(release)+" ·")...)
		}
	}
	all(0, "◐")
	all(unix.SIGSTOP, "○", "suspended")
	all(unix.SIGCONT, "◐")
	all(unix.SIGSTOP, "○", "suspended")
	tray.quiet(before, "for agents that are suspended")
	for release, agent := range agents {
		if n := tray.ended(before, agent); !strings.Contains(strings.ToLower(n.Body), "died in mid-turn") {
			t.Errorf("%v: told %q, %q", release, n.Summary, n.Body)
		}
		before++
	}
	tray.stop()
}
