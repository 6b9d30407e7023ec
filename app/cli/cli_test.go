package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "12") // parallel tests only wait; the flag exists
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { removeBinary(); os.Exit(code) }))
}

// agent is an adapter that answers from memory.
type agent struct {
	name adapters.Name
	roll adapters.Roll
	err  error
	hang bool
}

func (a *agent) Name() adapters.Name { return a.name }

func (a *agent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	if a.hang {
		<-ctx.Done()
		return adapters.Roll{}, ctx.Err()
	}
	r := a.roll
	r.Sessions = nil
	for _, s := range a.roll.Sessions {
		if q.IDs == nil && (s.Live() || !s.LastActivityAt.Before(q.Since)) || slices.Contains(q.IDs, s.ID) {
			if !q.Totals {
				s.Tokens = nil
			}
			r.Sessions = append(r.Sessions, s)
		}
	}
	return r, a.err
}

var now = time.Now().Truncate(time.Second)

// full is a session with every field set.
func full() adapters.Session {
	return adapters.Session{
		ID: "9830e65d-07df-45de-a5ee-6ab6aa5d19f2", Agent: agentname.ClaudeCode, Model: "claude-sonnet-5-5",
		Parent: "c0ffee00-0000-4000-8000-000000000000", Archived: true, Version: "2.1.329",
		Files: []string{"/home/dev/.claude/projects/-home-dev-proj/x.jsonl"},
		State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission, Outcome: adapters.Failed,
			Evidence: "registry 18068.json: waiting, 3 s ago"},
		Owner: adapters.Owner{Process: proc.Identity{PID: 18068, Start: 7, Boot: "b"}, Host: "VS Code"},
		Place: adapters.Place{CWD: "/home/dev/proj", Branch: "main", Remote: "gw", Container: "4026532456"},
		Topic: adapters.Topic{Title: "Fix the build", FirstPrompt: "fix it", LastPrompt: "go on"},
		Spent: adapters.Spent{Tokens: &adapters.Tokens{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 7},
			Context: adapters.Context{Used: 1107, Window: 200000}, CostUSD: 0.12},
		Times: adapters.Times{StartedAt: now.Add(-2 * time.Hour), LastActivityAt: now.Add(-90 * time.Second)},
	}
}

func simple(id string, a adapters.Name, st adapters.Status, ago time.Duration) adapters.Session {
	return adapters.Session{
		ID: id, Agent: a,
		State: adapters.State{Status: st, Evidence: "seen"},
		Place: adapters.Place{CWD: "/home/dev/" + id},
		Times: adapters.Times{LastActivityAt: time.Now().Add(-ago)},
	}
}

// run executes the program.
type result struct {
	code     int
	out, err string
}

func run(t *testing.T, d Deps, args ...string) result {
	t.Helper()
	return runOn(t.Context(), t, Streams{}, d, args...)
}

func runOn(ctx context.Context, t *testing.T, s Streams, d Deps, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	if s.Out == nil {
		s.Out = &out
	}
	s.Err = &errs
	code := Execute(ctx, args, s, complete(d))
	return result{code, out.String(), errs.String()}
}

func deps(list ...adapters.Adapter) Deps {
	return complete(Deps{
		Open:    func() ([]adapters.Adapter, proc.Lister) { return list, nil },
		Version: Version{Version: "1.2.3", Commit: "abcdef0123456789", Build: "headless"},
		Getenv: func(k string) string {
			return map[string]string{"HOME": "/home/dev"}[k]
		},
		Limit:    200 * time.Millisecond,
		LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
	})
}

func claude(list ...adapters.Session) *agent {
	return &agent{name: agentname.ClaudeCode, roll: adapters.Roll{Sessions: list, LookedIn: []string{"/home/dev/.claude/sessions", "/home/dev/.claude/projects"},
		Versions: map[string]int{"2.1.329": 3, "1.0.0": 1}, Skipped: map[string]int{"unknown record type \x1b[31mx": 2}}}
}

func codex(list ...adapters.Session) *agent {
	return &agent{name: agentname.Codex, roll: adapters.Roll{Sessions: list, LookedIn: []string{"/home/dev/.codex"}}}
}

// keys are all keys of a JSON value, as paths: "sessions[].stale.reason".
func keys(t *testing.T, text string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	found := map[string]bool{}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				p := strings.TrimPrefix(prefix+"."+k, ".")
				found[p] = true
				walk(p, x)
			}
		case []any:
			for _, x := range v {
				walk(prefix+"[]", x)
			}
		}
	}
	walk("", v)
	out := make([]string, 0, len(found))
	for k := range found {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// promised are the keys of schema 1, written by hand from the contract. Scripts
// read them: keys may be added, none may change or go.
var promised = []string{
	"adapters", "adapters[].elapsed_ms", "adapters[].error", "adapters[].looked_in", "adapters[].name", "adapters[].sessions", "adapters[].state",
	"at", "schema", "sessions",
	"sessions[].agent", "sessions[].archived", "sessions[].branch", "sessions[].container", "sessions[].context", "sessions[].context.used", "sessions[].context.window",
	"sessions[].cost_usd", "sessions[].cwd", "sessions[].evidence", "sessions[].first_prompt", "sessions[].host", "sessions[].id",
	"sessions[].last_activity_at", "sessions[].last_prompt", "sessions[].model", "sessions[].outcome", "sessions[].parent", "sessions[].pid",
	"sessions[].remote", "sessions[].started_at", "sessions[].status", "sessions[].title", "sessions[].tokens", "sessions[].tokens.cache_read",
	"sessions[].tokens.cache_write", "sessions[].tokens.input", "sessions[].tokens.output", "sessions[].tokens.reasoning", "sessions[].version", "sessions[].waiting_for",
}

func TestKeysOfListJSON(t *testing.T) {
	broken := codex()
	broken.err = adapters.Unreadable("/home/dev/.codex/state_5.sqlite", fs.ErrPermission)
	d := deps(claude(full()), broken)
	r := run(t, d, "list", "--json")
	if d := cmp.Diff(promised, keys(t, r.out)); d != "" {
		t.Errorf("keys (-promised +got):\n%s", d)
	}
	if r.code != Done {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	r = run(t, d, "status", "9830", "--json")
	if d := cmp.Diff(promised, keys(t, r.out)); d != "" {
		t.Errorf("keys of status (-promised +got):\n%s", d)
	}
}

func TestKeysOfTheOthers(t *testing.T) {
	broken := codex()
	broken.err = adapters.Unreadable("/x", fs.ErrPermission)
	d := deps(claude(full()), broken)
	r := run(t, d, "version", "--json")
	if d := cmp.Diff([]string{"arch", "build", "commit", "go", "os", "schema", "version"}, keys(t, r.out)); d != "" {
		t.Errorf("version: %s", d)
	}
	r = run(t, d, "doctor", "--json")
	for _, k := range []string{"schema", "at", "version.version", "adapters[].name", "adapters[].state", "adapters[].error", "adapters[].elapsed_ms",
		"adapters[].sessions", "adapters[].looked_in", "adapters[].missing", "adapters[].problems", "adapters[].versions", "adapters[].format", "adapters[].skipped"} {
		if k == "adapters[].missing" && runtime.GOOS == "windows" {
			continue // these paths are none there
		}
		if !slices.Contains(keys(t, r.out), k) {
			t.Errorf("doctor has no %s: %s", k, r.out)
		}
	}
}

// TestInstalledAndNeverRun: an agent whose program is there and which has stored nothing is installed.
func TestInstalledAndNeverRun(t *testing.T) {
	never := codex()
	never.err = adapters.ErrAbsent
	d := deps(never)
	if r := run(t, d, "doctor"); !strings.Contains(r.out, "not installed (install it: ") || strings.Contains(r.out, "program") {
		t.Errorf("without the program: %s", r.out)
	}
	d.LookPath = func(name string) (string, error) { return "/home/dev/.local/bin/" + name, nil }
	if r := run(t, d, "doctor"); !strings.Contains(r.out, "Codex: installed, never run\n    program   ~/.local/bin/codex\n") {
		t.Errorf("with the program: %s", r.out)
	}
	if r := run(t, d, "doctor", "--json"); !strings.Contains(r.out, `"program":"/home/dev/.local/bin/codex"`) {
		t.Errorf("with the program: %s", r.out)
	}
}

func TestJSONValues(t *testing.T) {
	r := run(t, deps(claude(full()), codex()), "list", "--json")
	var got struct {
		Schema   int
		At       time.Time
		Sessions []map[string]any
	}
	must.Do(t, json.Unmarshal([]byte(r.out), &got))
	s := got.Sessions[0]
	want := map[string]any{"status": "waiting", "waiting_for": "permission", "pid": 18068.0, "cwd": "/home/dev/proj",
		"last_activity_at": now.Add(-90 * time.Second).UTC().Format("2006-01-02T15:04:05Z"),
		"tokens":           map[string]any{"input": 100.0, "output": 20.0, "cache_read": 1000.0, "cache_write": 7.0, "reasoning": 0.0}}
	for k, v := range want {
		if d := cmp.Diff(v, s[k]); d != "" {
			t.Errorf("%s: %s", k, d)
		}
	}
	if got.Schema != 1 || time.Since(got.At) > time.Minute {
		t.Errorf("schema %d at %s", got.Schema, got.At)
	}
}

// TestEmptyFieldsAreLeftOut: of a session of which little is known.
func TestEmptyFieldsAreLeftOut(t *testing.T) {
	r := run(t, deps(claude(adapters.Session{ID: "x", Agent: agentname.ClaudeCode, State: adapters.State{Status: adapters.Idle, Evidence: "e"}})), "list", "--json")
	want := []string{"adapters", "adapters[].elapsed_ms", "adapters[].looked_in", "adapters[].name", "adapters[].sessions", "adapters[].state", "at", "schema",
		"sessions", "sessions[].agent", "sessions[].evidence", "sessions[].id", "sessions[].status"}
	if d := cmp.Diff(want, keys(t, r.out)); d != "" {
		t.Error(d)
	}
	r = run(t, deps(claude()), "list", "--json")
	if !strings.Contains(r.out, `"sessions":[]`) {
		t.Errorf("no sessions are not an empty list: %s", r.out)
	}
}

func TestExitCodes(t *testing.T) {
	ok := deps(claude(full(), simple("98300000", agentname.ClaudeCode, adapters.Idle, 0)), codex())
	failing := codex()
	failing.err = adapters.Unreadable("/home/dev/.codex", fs.ErrPermission)
	bad := deps(claude(full()), failing)
	for _, tt := range []struct {
		deps Deps
		args string
		code int
		err  string // part of what is printed
	}{
		{ok, "list", 0, ""},
		{ok, "list --json --strict", 0, ""},
		{ok, "list --agent codex", 0, "no live sessions"},
		{ok, "status 9830e", 0, ""},
		{ok, "doctor", 0, ""},
		{ok, "doctor --strict", 0, ""},
		{ok, "version", 0, ""},
		{ok, "--version", 0, ""},
		{ok, "--help", 0, ""},
		{ok, "list --help", 0, ""},
		{ok, "", 2, "no tray"},
		{ok, "window", 2, "no window"},
		{ok, "lits", 2, `did you mean "list"?`},
		{ok, "ls", 2, `did you mean "list"?`},
		{ok, "run codex", 2, `did you mean "launch"?`},
		{ok, "kill 98", 2, `did you mean "stop"?`},
		{ok, "help", 0, ""},
		{ok, "help list", 0, ""},
		{ok, "help fuse set", 0, ""},
		{ok, "help nope", 2, `unknown command "nope"`},
		{ok, "help lits", 2, `did you mean "list"?`},
		{ok, "help fuse nope", 2, `unknown command "nope" for rollcall fuse`},
		{ok, "help list nope", 2, `unknown command "nope" for rollcall list`},
		{ok, "stop --idle 98", 2, "use --idle or an id"},
		{ok, "hook retry", 2, "takes one launch id"},
		{ok, "pending a b", 2, "takes at most one session id"},
		{ok, "window --launch --queue", 2, "use --launch or --queue, not both"},
		{ok, "keep --status --start", 2, "use --status or --start, not both"},
		{ok, "list --agent", 2, "--agent"},
		{ok, "watch --agent clod", 2, "--agent must be one of"},
		{ok, "peek 983 -n 0", 2, "-n must be a number"},
		{ok, "list extra", 2, "takes no argument"},
		{ok, "list --nope", 2, "unknown flag"},
		{ok, "list --status busy", 2, "--status must be working"},
		{ok, "list --agent clod", 2, "claude-code, codex"},
		{ok, "list --since yesterday", 2, "--since must be a time"},
		{ok, "list --since -3d", 2, "--since must be a time"},
		{ok, "list --color pink", 2, "--color"},
		{ok, "status", 2, "takes one session id"},
		{ok, "status a b", 2, "takes one session id"},
		{ok, "status 983", 2, "98300000"}, // ambiguous
		{ok, "status nope", 4, "no such session"},
		{bad, "list", 0, "codex: /home/dev/.codex: unreadable"},
		{bad, "list --strict", 3, "codex: /home/dev/.codex: unreadable"},
		{bad, "list --json --strict", 3, "give your user read permission"},
		{bad, "list --json", 0, "codex"},
		{bad, "doctor", 0, ""},
		{bad, "doctor --strict", 3, ""},
		{bad, "status 9830e", 0, "codex"},
		{bad, "status nope", 4, "not everything of codex could be read"},
	} {
		r := run(t, tt.deps, strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.err, tt.err) || tt.err == "" && r.err != "" {
			t.Errorf("rollcall %s: exit code %d, want %d; printed %q, want %q", tt.args, r.code, tt.code, r.err, tt.err)
		}
		if r.code != Done && r.code != Incomplete && tt.args != "" && r.out != "" {
			t.Errorf("rollcall %s failed and printed %q", tt.args, r.out)
		}
		if r.code == Incomplete && r.out == "" {
			t.Errorf("rollcall %s printed nothing", tt.args)
		}
	}
}

func TestHungAdapterIsReported(t *testing.T) {
	r := run(t, deps(claude(full()), &agent{name: agentname.Codex, hang: true}), "list", "--strict")
	if r.code != Incomplete || !strings.Contains(r.out, "proj") || !strings.Contains(r.err, "codex: ") {
		t.Errorf("%+v", r)
	}
}

func TestInterrupted(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"status", "x"}, {"doctor"}} {
		ctx, cancel := context.WithCancel(t.Context())
		d := deps(&agent{name: agentname.Codex, hang: true})
		d.Limit = time.Minute
		time.AfterFunc(50*time.Millisecond, cancel)
		r := runOn(ctx, t, Streams{}, d, args...)
		if r.code != Interrupted || r.out != "" || r.err != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

func TestBrokenPipeIsQuiet(t *testing.T) {
	d := deps(claude(full()))
	if r := runOn(t.Context(), t, Streams{Out: brokenPipe{&fs.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}}}, d, "list"); r.code != Done || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := runOn(t.Context(), t, Streams{Out: brokenPipe{io.ErrShortWrite}}, d, "list"); r.code != Failure || r.err == "" {
		t.Errorf("a full disk: %+v", r)
	}
}

func TestTrayAndWindow(t *testing.T) {
	d := deps()
	var opened []WindowOptions
	d.Tray = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	d.Window = func(_ context.Context, o WindowOptions) error { opened = append(opened, o); return nil }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := runOn(ctx, t, Streams{}, d); r.code != Done {
		t.Errorf("a tray that was asked to end: %+v", r)
	}
	d.Tray = func(context.Context) error { return errors.New("no bus") }
	if r := run(t, d); r.code != Failure || r.err != "rollcall: no bus\n" {
		t.Errorf("%+v", r)
	}
	run(t, d, "window", "--session", "abc")
	run(t, d, "window", "--launch")
	if d := cmp.Diff([]WindowOptions{{Session: "abc"}, {Launch: true}}, opened); d != "" {
		t.Error(d)
	}
}

func TestFilters(t *testing.T) {
	day := 24 * time.Hour
	d := deps(claude(simple("work", agentname.ClaudeCode, adapters.Working, 0), simple("week", agentname.ClaudeCode, adapters.Stopped, 6*day)),
		codex(simple("wait", agentname.Codex, adapters.Waiting, day), simple("month", agentname.Codex, adapters.Stopped, 25*day), simple("odd", agentname.Codex, adapters.Unknown, 0)))
	for args, want := range map[string]string{
		"":                               "wait work odd",
		"--all":                          "wait work odd week",
		"--since 4w":                     "wait work odd week month",
		"--all --since all":              "wait work odd week month",
		"--since 5d":                     "wait work odd",
		"--agent codex":                  "wait odd",
		"--agent codex --all":            "wait odd",
		"--status working":               "work",
		"--status stopped":               "week",
		"--status stopped --since 30d":   "week month",
		"--status waiting --agent codex": "wait",
	} {
		r := run(t, d, append([]string{"list", "--json"}, strings.Fields(args)...)...)
		var got struct{ Sessions []struct{ ID string } }
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatal(err, r)
		}
		var ids []string
		for _, s := range got.Sessions {
			ids = append(ids, s.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("list %s: %v, want %s", args, ids, want)
		}
	}
}
