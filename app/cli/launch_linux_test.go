package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// shellAgent is an agent that is a shell script: it writes its session, a file in
// its folder, and works until the file named end is there.
type shellAgent struct{ store string }

const shellProgram = `read prompt; case $prompt in fail) echo "no such model"; exit 3;; esac
printf '%s' "$prompt" > "$1/prompt"; echo $$ > "$1/session.tmp"; mv "$1/session.tmp" "$1/session"
until [ -e "$1/end" -o ! -d "$1" ]; do sleep 0.02; done`

func (a *shellAgent) Name() adapters.Name { return agentname.Codex }

func (a *shellAgent) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	data, err := os.ReadFile(filepath.Join(a.store, "session"))
	if err != nil || q.IDs != nil && !slices.Contains(q.IDs, "sh-1") {
		return adapters.Roll{LookedIn: []string{a.store}}, nil
	}
	var pid int
	if err := json.Unmarshal(data, &pid); err != nil {
		return adapters.Roll{}, err
	}
	s := adapters.Session{
		ID: "sh-1", Agent: a.Name(), Files: []string{filepath.Join(a.store, "session")},
		State: adapters.State{Status: adapters.Working, Evidence: "its file"},
		Place: adapters.Place{CWD: a.store},
		Times: adapters.Times{LastActivityAt: time.Now()},
	}
	if p, err := proc.OpenAt("/proc", "/etc").Find(pid); err == nil {
		s.Process = p.Identity
	} else {
		s.Status, s.Outcome = adapters.Stopped, adapters.Completed
	}
	return adapters.Roll{Sessions: []adapters.Session{s}, LookedIn: []string{a.store}}, nil
}

func (a *shellAgent) Program(func(string) (string, error)) (string, error) { return "/bin/sh", nil }

func (a *shellAgent) Modes() []adapters.Mode {
	return []adapters.Mode{{Name: "careful"}, {Name: "yolo", Says: "does everything without asking", Unsafe: true}}
}

func (a *shellAgent) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"-c", shellProgram, "sh", a.store}, Stdin: t.Prompt + "\n", Session: t.Resume}, nil
}

// end lets the agent end, and removes what a test started if it failed.
func (a *shellAgent) end() { _ = os.WriteFile(filepath.Join(a.store, "end"), nil, 0o600) }

func launchDeps(t *testing.T, list ...adapters.Adapter) Deps {
	t.Helper()
	d := withTable(list...)
	state := filepath.Join(t.TempDir(), "state")
	d.Launches = func() (*launch.Launches, error) { return launch.In(state, proc.OpenAt("/proc", "/etc")), nil }
	d.Fuses = func() (*fuse.Fuses, error) { return fuse.In(store.Below(state, store.Fuses)), nil }
	return d
}

func TestLaunch(t *testing.T) {
	a := &shellAgent{t.TempDir()}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	dir := t.TempDir()
	if r := run(t, d, "launch", "codex", "-p", "do it", "--cwd", dir, "-n"); r.code != Done || !strings.Contains(r.out, "goes to its standard input") {
		t.Errorf("dry run: %+v", r)
	}
	r := run(t, d, "launch", "codex", "-p", "do it", "--cwd", dir, "--group", "g-1", "--on-complete", "echo \x1b[1mbye")
	if r.code != Done || !strings.Contains(r.out, "Codex in "+dir) || !strings.Contains(r.out, "session sh-1; its log is ") {
		t.Fatalf("%+v", r)
	}
	if got, _ := os.ReadFile(filepath.Join(a.store, "prompt")); string(got) != "do it" {
		t.Errorf("the agent was asked %q", got)
	}
	if r := run(t, d, "status", "sh-1"); !strings.Contains(r.out, "\ngroup          g-1\n") || !strings.Contains(r.out, "bye: has not run\n") ||
		!strings.Contains(r.out, "\nlog            ") || strings.Contains(r.out, "\x1b") {
		t.Errorf("status: %+v", r)
	}
	r = run(t, d, "locks")
	if r.code != Done || !strings.Contains(r.out, dir+"\n  codex session sh-1, process ") {
		t.Errorf("locks: %+v", r)
	}
	var doc document
	if r := run(t, d, "list", "--json", "--group", "g-1"); json.Unmarshal([]byte(r.out), &doc) != nil || len(doc.Sessions) != 1 ||
		doc.Sessions[0].Launch == nil || doc.Sessions[0].Launch.Group != "g-1" || len(doc.Locks) != 1 || doc.Locks[0].Session != "sh-1" {
		t.Errorf("list: %+v", r)
	}
	for _, k := range []string{"sessions[].launch.id", "sessions[].launch.group", "sessions[].launch.prompt", "sessions[].launch.launched_at",
		"locks[].path", "locks[].kind", "locks[].by", "locks[].pid", "locks[].session", "locks[].since"} {
		if !slices.Contains(keys(t, run(t, d, "list", "--json").out), k) {
			t.Errorf("no key %s", k)
		}
	}
	for _, folder := range []string{dir, filepath.Dir(dir), a.store} {
		if r := run(t, d, "launch", "codex", "-p", "again", "--cwd", folder); r.code != Locked || !strings.Contains(r.err, "sh-1") {
			t.Errorf("into %s: %+v", folder, r)
		}
	}
	if r := run(t, d, "resume", "sh-1", "-p", "go on"); r.code != Failure || !strings.Contains(r.err, "is still running") {
		t.Errorf("resume of a live one: %+v", r)
	}
	a.end()
	eventually.True(t, "the end of the lock", func() bool {
		r = run(t, d, "locks")
		return strings.Contains(r.out, "no folder is locked")
	})
	if r.out != "no folder is locked\n" {
		t.Errorf("after the end: %+v", r)
	}
}

func TestLaunchThatFails(t *testing.T) {
	a := &shellAgent{t.TempDir()}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	r := run(t, d, "launch", "codex", "-p", "fail", "--cwd", t.TempDir())
	if r.code != Failure || !strings.Contains(r.err, "ended at once with exit code 3: no such model") {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "locks"); r.out != "no folder is locked\n" {
		t.Errorf("%+v", r)
	}
}

// TestMatrixMistakes: a mistake in a matrix file is wrong usage, and its message names the file; a file that cannot be read is a failure.
func TestMatrixMistakes(t *testing.T) {
	a := &shellAgent{t.TempDir()}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	for _, c := range []struct {
		text string
		code int
		says string
	}{
		{"prompt: x\nmatrix:\n- agent: codex\n  nope: 1\n", Usage, `m.yaml: line 4: "nope" is not a key`},
		{"prompt: x\nmatrix: 7\n", Usage, "m.yaml: line 2"},
		{"prompt: x\n", Usage, "names no agent"},
		{"prompt: x\nprompt_file: y\nmatrix:\n- agent: codex\n", Usage, "both prompt and prompt_file"},
		{"prompt: x\nmatrix:\n- model: y\n", Usage, "entry 1 of the matrix: the key agent is missing"},
		{"prompt: x\nmatrix:\n- agent: nobody\n", Usage, `m.yaml: unknown agent "nobody"; agents: claude-code`},
		{"prompt: x\nmatrix:\n- agent: codex\n  mode: z\n", Usage, `m.yaml: mode of codex must be one of careful, yolo, not "z"`},
		{"matrix:\n- agent: codex\n", Usage, "m.yaml: the matrix has no prompt; add prompt or prompt_file"},
		{"prompt_file: gone.md\nmatrix:\n- agent: codex\n", Failure, "gone.md"},
		{"", Failure, "m.yaml"},
	} {
		path := filepath.Join(t.TempDir(), "m.yaml")
		if c.text != "" {
			must.Do(t, os.WriteFile(path, []byte(c.text), 0o600))
		}
		if r := run(t, d, "launch", "--matrix", path); r.code != c.code || !strings.Contains(r.err, c.says) || !strings.Contains(r.err, filepath.Dir(path)) {
			t.Errorf("%q: %+v; want %d with %q", c.text, r, c.code, c.says)
		}
	}
}

func TestLaunchUsage(t *testing.T) {
	a := &shellAgent{t.TempDir()}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"launch"}, Usage, "takes an agent"},
		{[]string{"launch", "nobody", "-p", "x"}, Usage, `unknown agent "nobody"; agents: claude-code`},
		{[]string{"launch", "Claude", "-p", "x"}, Usage, `unknown agent "Claude" (did you mean claude-code?); agents: claude-code`},
		{[]string{"launch", "codex", "--cwd", dir}, Usage, "needs a prompt: use -p TEXT, --prompt-file FILE or --terminal"},
		{[]string{"launch", "codex", "codex", "--cwd", dir}, Usage, "needs a prompt: use -p TEXT, --prompt-file FILE"},
		{[]string{"launch", "codex", "-p", "x", "--model", "--json", "--cwd", dir}, Usage, "--model of codex must be the name of a model"},
		{[]string{"launch", "codex", "-p", "x", "--prompt-file", "y"}, Usage, "not both"},
		{[]string{"launch", "codex", "-p", "x", "--cwd", dir, "--mode", "z"}, Usage, `--mode of codex must be one of careful, yolo, not "z"`},
		{[]string{"launch", "codex", "-p", "x", "--cwd", dir, "--mode", "yolo"}, Usage, "warning: in mode yolo the agent does everything without asking"},
		{[]string{"launch", "codex", "-p", "x", "--cwd", dir, "--terminal"}, Usage, "needs a terminal"},
		{[]string{"resume", "nobody"}, NoSession, "no such session"},
	} {
		if r := run(t, d, c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: %+v; want %d with %q", c.args, r, c.code, c.says)
		}
	}
	if _, err := os.Stat(filepath.Join(a.store, "session")); err == nil {
		t.Error("one of them was started")
	}
}

func TestLockByHand(t *testing.T) {
	a := &shellAgent{t.TempDir()}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	dir := t.TempDir()
	if r := run(t, d, "lock", dir, "--by", "ann", "--reason", "release"); r.code != Done || !strings.HasPrefix(r.out, "locked ") {
		t.Fatalf("%+v", r)
	}
	if r := run(t, d, "lock", dir); r.code != Locked || !strings.Contains(r.err, "ann (release)") {
		t.Errorf("twice: %+v", r)
	}
	if r := run(t, d, "launch", "codex", "-p", "x", "--cwd", dir); r.code != Locked || !strings.Contains(r.err, "ann (release)") {
		t.Errorf("launch: %+v", r)
	}
	if r := run(t, d, "locks", "--json"); !strings.Contains(r.out, `"kind":"manual","by":"ann","reason":"release"`) {
		t.Errorf("locks: %+v", r)
	}
	if r := run(t, d, "unlock", dir); r.code != Done {
		t.Errorf("unlock: %+v", r)
	}
	if r := run(t, d, "unlock", dir); r.code != Failure || !strings.Contains(r.err, "not locked by hand") {
		t.Errorf("again: %+v", r)
	}
}
