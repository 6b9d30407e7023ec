package named

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// agents makes the adapters of this package for the processes that the test starts.
func agents(t *testing.T, users []adapters.Unread, others ...adapters.Adapter) map[adapters.Name]adapters.Adapter {
	t.Helper()
	t.Cleanup(func() { Register(nil) })
	out := map[adapters.Name]adapters.Adapter{}
	for _, a := range New(adapters.Config{Home: t.TempDir(), Table: adaptertest.NewOwnTable(os.Getpid())}, func() []adapters.Unread { return users }, nil, others) {
		out[a.Name()] = a
	}
	return out
}

// script writes an executable script and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// start starts a program that ends with the test, in a folder of its own.
func start(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TMUX=", "KITTY_PID=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	return cmd
}

func rows(t *testing.T, a adapters.Adapter) []adapters.Session {
	t.Helper()
	roll, err := a.Discover(t.Context(), adapters.Query{})
	if err != nil && err != adapters.ErrAbsent { //nolint:errorlint // alone, it says that there is none
		t.Fatal(err)
	}
	return roll.Sessions
}

// one waits for the row of a process and returns it.
func one(t *testing.T, a adapters.Adapter, pid int) (s adapters.Session) {
	t.Helper()
	eventually.True(t, "the row of the process", func() bool {
		list := rows(t, a)
		if len(list) == 1 && list[0].Process.PID == pid {
			s = list[0]
			return true
		}
		return false
	})
	return s
}

const forever = "#!/bin/sh\nsleep 1000 & wait\n"

// TestRow: a process with a built-in name, and one with a name of the settings, is a row that says what can be known, with the status unknown.
func TestRow(t *testing.T) {
	list := agents(t, []adapters.Unread{{Name: "mine", Programs: []string{"my-agent", "mine"}}})
	goose := start(t, script(t, "goose", forever))
	mine := start(t, script(t, "my-agent", forever))
	childOf(t, goose.Process.Pid)
	childOf(t, mine.Process.Pid) // until it is another program, it is one of this name, and it lives on below
	s := one(t, list["goose"], goose.Process.Pid)
	if s.Status != adapters.Unknown || s.CWD != goose.Dir || s.Unstored || !strings.Contains(s.Evidence, "Rollcall does not read Goose's files") ||
		!strings.Contains(s.Evidence, "it runs sleep (") || !strings.Contains(s.Evidence, "it has used less than 1 s of processor time") || s.StartedAt.IsZero() {
		t.Errorf("%+v", s)
	}
	s = one(t, list["mine"], mine.Process.Pid)
	if s.Status != adapters.Unknown || s.Agent != "mine" || !strings.Contains(s.Evidence, "Rollcall does not read mine's files") {
		t.Errorf("%+v", s)
	}
	_ = mine.Process.Kill()
	_ = mine.Wait()
	if left := rows(t, list["mine"]); len(left) != 0 {
		t.Errorf("after its end: %+v", left)
	}
}

// TestSeconds: the processor time of a process is told in whole units, and counts its work.
func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "less than 1 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min", 3 * time.Hour: "3 h 0 min"} {
		if got := seconds(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	busy := start(t, script(t, "goose", "#!/bin/sh\nwhile :; do :; done\n"))
	p, err := proc.Open().Find(busy.Process.Pid)
	must.Do(t, err)
	eventually.True(t, "processor time", func() bool {
		used, err := proc.Open().Load(p.Identity)
		return err == nil && used.Processor > 50*time.Millisecond
	})
}

// TestInterpreters: a script of Python or Node.js is known by its name, however it was started. A file of that name that another program reads is not.
func TestInterpreters(t *testing.T) {
	must.Have(t, "python3", "node", "tail")
	list := agents(t, []adapters.Unread{{Name: "my-agent"}})
	python := script(t, "aider", "#!/usr/bin/env python3\nimport time\ntime.sleep(1000)\n")
	for _, command := range [][]string{{python}, {"python3", python}} {
		cmd := start(t, command[0], command[1:]...)
		one(t, list["aider"], cmd.Process.Pid)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	dir := filepath.Join(t.TempDir(), "cursor-agent", "versions", "1")
	must.Do(t, os.MkdirAll(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "index.js"), []byte("setInterval(() => {}, 1000)"), 0o600))
	cursor := start(t, "node", "--max-old-space-size=99", filepath.Join(dir, "index.js"))
	one(t, list["cursor-agent"], cursor.Process.Pid)
	// What pnpm writes to be started, and npm for Windows, names the script in the package, and not the command.
	modules := filepath.Join(t.TempDir(), "node_modules", ".pnpm", "@me+my-agent@1.0.0", "node_modules", "@me", "my-agent")
	own, helper := filepath.Join(modules, "dist", "cli.js"), filepath.Join(modules, "node_modules", "linter", "cli.js")
	for _, path := range []string{own, helper} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte("setInterval(() => {}, 1000)"), 0o600))
	}
	other := start(t, "node", helper)
	one(t, list["my-agent"], start(t, "node", own).Process.Pid)
	eventually.True(t, "node", func() bool {
		p, err := proc.Open().Find(other.Process.Pid)
		return err == nil && p.Comm != "named.test"
	})
	if got := rows(t, list["my-agent"]); len(got) != 1 {
		t.Errorf("another package: %+v", got)
	}
	reader := start(t, "tail", "-f", python)
	eventually.True(t, "tail", func() bool { p, err := proc.Open().Find(reader.Process.Pid); return err == nil && p.Comm == "tail" })
	if got := rows(t, list["aider"]); len(got) != 0 {
		t.Errorf("a file that is read: %+v", got)
	}
}

// TestInnermost: of a wrapper and its agent the agent is the row, of an agent and a copy of itself that it runs as a tool the agent.
func TestInnermost(t *testing.T) {
	must.Have(t, "sleep")
	list := agents(t, nil)
	path, err := exec.LookPath("sleep")
	must.Do(t, err)
	native, err := os.ReadFile(path)
	must.Do(t, err)
	inner := script(t, "codebuff", string(native))
	wrapper := start(t, script(t, "codebuff", "#!/bin/sh\n"+inner+" 1000 & wait\n"))
	eventually.True(t, "the inner process is the row", func() bool {
		got := rows(t, list["codebuff"])
		return len(got) == 1 && got[0].Process.PID != wrapper.Process.Pid
	})
	copied := script(t, "crush", forever)
	outer := start(t, script(t, "crush", "#!/bin/sh\n"+copied+" & wait\n"))
	eventually.True(t, "the copy runs", func() bool { return len(list["crush"].(*Adapter).mine(t)) == 2 })
	one(t, list["crush"], outer.Process.Pid)
}

// mine returns the processes that belong to the agent, rows or not.
func (a *Adapter) mine(t *testing.T) (out []proc.Process) {
	list, err := a.table.List(t.Context())
	must.Do(t, err)
	for _, p := range list {
		if a.OwnsProcess(p) {
			out = append(out, p)
		}
	}
	return out
}

// owner is an adapter that reads its agent, whose processes have one name.
type owner struct {
	adapters.Adapter
	comm string
}

func (o owner) OwnsProcess(p proc.Process) bool { return p.Comm == o.comm }

// TestFirstClaim: a process that two entries claim belongs to the first, and one of an agent that Rollcall reads to neither.
func TestFirstClaim(t *testing.T) {
	users := []adapters.Unread{{Name: "first", Programs: []string{"both", "read"}}, {Name: "second", Programs: []string{"both", "read"}}}
	list := agents(t, users, owner{comm: "read"})
	start(t, script(t, "read", forever))
	both := start(t, script(t, "both", forever))
	one(t, list["first"], both.Process.Pid)
	if got := rows(t, list["second"]); len(got) != 0 {
		t.Errorf("the second entry has %+v", got)
	}
}

// TestReload: an adapter follows the changes of its entry.
func TestReload(t *testing.T) {
	users := []adapters.Unread{{Name: "mine", Programs: []string{"old"}}}
	t.Cleanup(func() { Register(nil) })
	var a adapters.Adapter
	for _, x := range New(adapters.Config{Home: t.TempDir(), Table: adaptertest.NewOwnTable(os.Getpid())}, func() []adapters.Unread { return users }, nil, nil) {
		if x.Name() == "mine" {
			a = x
		}
	}
	cmd := start(t, script(t, "new", forever))
	if got := rows(t, a); len(got) != 0 {
		t.Errorf("before: %+v", got)
	}
	users = []adapters.Unread{{Name: "mine", Programs: []string{"new"}}}
	one(t, a, cmd.Process.Pid)
	users = nil
	if _, err := a.Discover(t.Context(), adapters.Query{}); err != adapters.ErrAbsent { //nolint:errorlint // alone
		t.Errorf("without an entry: %v", err)
	}
}

// TestTitle: the title of the pane says that the agent works or waits, and nothing where it matches no pattern.
func TestTitle(t *testing.T) {
	must.Have(t, "tmux")
	list := agents(t, []adapters.Unread{{Name: "mine", Working: regexp.MustCompile("^busy"), Waiting: regexp.MustCompile(`allow\?$`)}})
	socket := filepath.Join(t.TempDir(), "s")
	tmux := func(args ...string) {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
	}
	program := script(t, "mine", forever)
	tmux("start-server", ";", "new-session", "-d", program)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	// tmux's server is no descendant of the test: the whole table is read, and only this program is asked for.
	a := list["mine"].(*Adapter)
	a.table, a.claims.table = proc.Open(), proc.Open()
	for title, want := range map[string]adapters.Status{"busy with it": adapters.Working, "rm -r x, allow?": adapters.Waiting, "mine": adapters.Unknown} {
		tmux("select-pane", "-T", title)
		eventually.True(t, title, func() bool {
			got := rows(t, a)
			return len(got) == 1 && got[0].Status == want && strings.Contains(got[0].Evidence, title) && !got[0].AskAgain.IsZero()
		})
	}
}

// TestOfOldProcess: the end of a run is told only once it is older than a look at its version.
func TestOfOldProcess(t *testing.T) {
	now := time.Now()
	t.Cleanup(func() { Register(nil) })
	cfg := adapters.Config{Home: t.TempDir(), Table: adaptertest.NewOwnTable(os.Getpid()), Now: func() time.Time { return now }}
	users := []adapters.Unread{{Name: "mine"}}
	a := New(cfg, func() []adapters.Unread { return users }, nil, nil)[0]
	cmd := start(t, script(t, "mine", forever))
	if s := one(t, a, cmd.Process.Pid); s.Unstored || !s.AskAgain.After(now) {
		t.Errorf("a new process: %+v", s)
	}
	now = now.Add(time.Minute)
	if s := one(t, a, cmd.Process.Pid); !s.Unstored || !s.AskAgain.IsZero() {
		t.Errorf("an old process: %+v", s)
	}
}

// TestCommand: the prompt is in its place, or on standard input, and what the entry does not say is refused.
func TestCommand(t *testing.T) {
	list := agents(t, []adapters.Unread{{Name: "arg", Launch: []string{"--message", "{prompt}"}, Resume: []string{"--again", "{prompt}"}}, {Name: "pipe", Launch: []string{"-"}}})
	tests := []struct {
		agent adapters.Name
		task  adapters.Task
		args  string
		stdin string
		err   string
	}{
		{"arg", adapters.Task{Prompt: "fix it"}, "--message|fix it", "", ""},
		{"arg", adapters.Task{Prompt: "fix it", Terminal: true}, "--message|fix it", "", ""},
		{"arg", adapters.Task{Terminal: true}, "", "", ""},
		{"arg", adapters.Task{Terminal: true, Resume: "x"}, "--again", "", ""},
		{"arg", adapters.Task{Prompt: "-v"}, "", "", "begins with a hyphen"},
		{"arg", adapters.Task{Prompt: "x", Model: "m"}, "", "", "takes no model"},
		{"pipe", adapters.Task{Prompt: "fix it"}, "-", "fix it", ""},
		{"pipe", adapters.Task{Prompt: "fix it", Terminal: true}, "-", "", "standard input, which a terminal does not have"},
		{"pipe", adapters.Task{Prompt: "x", Resume: "x"}, "", "", "add resume to its [[agent]]"},
	}
	for _, tt := range tests {
		c, err := list[tt.agent].(adapters.Launcher).Command("/bin/x", tt.task)
		if tt.err == "" && (err != nil || strings.Join(c.Args, "|") != tt.args || c.Stdin != tt.stdin) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s %+v: %q, standard input %q, %v", tt.agent, tt.task, c.Args, c.Stdin, err)
		}
	}
	_, err := list["arg"].(adapters.Launcher).Program(func(string) (string, error) { return "", exec.ErrNotFound })
	if err == nil || !strings.Contains(err.Error(), "the program arg was not found") {
		t.Error(err)
	}
	if _, can := list["goose"].(adapters.Launcher); can {
		t.Error("a built-in name can be launched without an entry")
	}
}
