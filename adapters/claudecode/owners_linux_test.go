package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// inFolder makes a line's cwd dir.
func inFolder(dir, line string) string { return strings.ReplaceAll(line, "/home/dev/proj", dir) }

// A version without a registry: the process in the transcript's folder.
func TestWithoutRegistry(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	ask := func(want string, lines ...string) adapters.Session {
		t.Helper()
		for i := range lines {
			lines[i] = inFolder(dir, lines[i])
		}
		w.transcript(1, lines...)
		sessions, _, err := w.discover(adapters.Query{})
		if err != nil {
			t.Error(err)
		}
		s := w.expect(sessions, 1, want)
		if s.Process != p.Identity {
			t.Errorf("%s: process %v, want %v", want, s.Process, p.Identity)
		}
		return s
	}
	now := func(line string) string { return old(line, -time.Second) }
	ask("working", now(promptLine("hi")))
	ask("idle completed", now(promptLine("hi")), now(doneLine("m")))
	ask("idle interrupted", now(promptLine("hi")), now(promptLine("[Request interrupted by user]")))
	ask("waiting question", now(promptLine("hi")), now(callLine("m", "t", "AskUserQuestion")))
	ask("working", now(promptLine("hi")), now(callLine("m", "t", "Bash"))) // too young to tell
	ask("working", now(promptLine("hi")), now(callLine("m", "t", "Task")))
	ask("working", now(promptLine("hi")), now(callLine("m", "t", "WebFetch"))) // too young to tell
	ask("waiting permission", now(promptLine("hi")), now(callLine("m", "t", "ExitPlanMode")))
	ask("working", now(promptLine("hi")), now(callLine("m", "t", "Bash")), now(resultLine("t")))
	ask("working", now(promptLine("hi")), now(answerLine("m", "", `{"type":"text","text":"I will"}`)))

	s := ask("idle", old(promptLine("hi"), time.Hour)) // another process's turn, resumed
	if !strings.Contains(s.Evidence, "started later") {
		t.Errorf("evidence %q", s.Evidence)
	}
}

// An unanswered Bash call runs if there is a child younger than it, else waits
// for a permission.
func TestCommandOrPermission(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.startEarlier(dir)
	w.config.Now = func() time.Time { return time.Now().Add(time.Minute) }
	w.transcript(1, inFolder(dir, old(promptLine("hi"), 0)), inFolder(dir, old(callLine("m", "t", "Bash"), 0)))
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "waiting permission")
	w.transcript(2, promptLine("hi"), callLine("m", "t", "Bash"))
	w.entry(p, id(2), map[string]any{"status": nil})
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "waiting permission")
	w.expect(sessions, 1, "stopped") // the registry says whose the process is

	child := childOf{w.ownTable(), proc.Process{Identity: proc.Identity{PID: 1 << 22, Start: 1}, PPID: p.PID, Comm: "bash", Started: time.Now()}}
	w.config.Table = child
	sessions, _, _ = w.discover(adapters.Query{})
	if s := w.expect(sessions, 2, "working"); !strings.Contains(s.Evidence, "bash") {
		t.Errorf("evidence %q", s.Evidence)
	}
	child.young.Started = time.Now().Add(-time.Hour) // an MCP server
	w.config.Table = child
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "waiting permission")
}

// On a busy machine a permitted command becomes a child process later: 2.1.100 took 3 s at
// a load of 30, and was told to need a permission.
func TestCommandStartsLateOnABusyMachine(t *testing.T) {
	w := newFixture(t)
	p := w.startEarlier(filepath.Join(w.home, "proj"))
	w.transcript(1, promptLine("hi"), callLine("m", "t", "Bash"))
	w.entry(p, id(1), map[string]any{"status": nil})
	for _, c := range []struct {
		age      time.Duration
		pressure float64
		want     string
	}{
		{commandDelay + time.Second, 0, "waiting permission"},
		{commandDelay + time.Second, 1, "working"},
		{3*commandDelay + time.Second, 1, "waiting permission"},
	} {
		w.config.Now = func() time.Time { return time.Now().Add(c.age) }
		w.config.Table = busyTable{w.ownTable(), c.pressure}
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, c.want)
	}
}

// busyTable is the table of a machine with that pressure.
type busyTable struct {
	ownTable
	pressure float64
}

func (t busyTable) Pressure() float64 { return t.pressure }

// A command that was seen running and is over waits for nobody while its result is not
// written yet. Seen with 2.1.100 on a busy machine, whose wait was told twice.
func TestResultOfCommandIsWrittenLate(t *testing.T) {
	w := newFixture(t)
	p := w.startEarlier(filepath.Join(w.home, "proj"))
	w.transcript(1, promptLine("hi"), callLine("m", "t", "Bash"))
	w.entry(p, id(1), map[string]any{"status": nil})
	later := time.Minute
	w.config.Now = func() time.Time { return time.Now().Add(later) }
	child := &childOf{w.ownTable(), proc.Process{Identity: proc.Identity{PID: 1 << 22, Start: 1}, PPID: p.PID, Comm: "bash"}}
	w.config.Table = child
	adapter := New(w.config)
	status := func(want string) {
		t.Helper()
		sessions, _, _ := ask(t, adapter, adapters.Query{})
		w.expect(sessions, 1, want)
	}
	status("waiting permission")
	child.young.Started = time.Now()
	status("working")
	child.young.Started = time.Time{}
	later += resultDelay / 2
	status("working")
	later += resultDelay
	status("waiting permission")
}

// A fetch, or a tool of an MCP server, runs without a process of its own and may
// take long: it can't be told from a permission. A sub-agent is taken to run.
func TestSlowToolOrPermission(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	w.start(dir)
	w.config.Now = func() time.Time { return time.Now().Add(time.Minute) }
	for tool, want := range map[string]string{
		"WebFetch": "unknown", "mcp__mock__slow": "unknown", "Task": "working", "Read": "waiting permission", "Write": "waiting permission",
	} {
		w.transcript(1, inFolder(dir, old(promptLine("hi"), 0)), inFolder(dir, old(callLine("m", "t", tool), 0)))
		sessions, _, _ := w.discover(adapters.Query{})
		if s := w.expect(sessions, 1, want); want == "unknown" && !strings.Contains(s.Evidence, "permission") {
			t.Errorf("evidence %q", s.Evidence)
		}
	}
}

// 2.1.20 writes no stop reason: a text may end the turn, or a call follows, which
// can take long to write.
func TestEndOfTurnWithoutStopReason(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.startEarlier(dir)
	w.transcript(1, inFolder(dir, old(promptLine("hi"), 0)), inFolder(dir, old(answerLine("m", "", `{"type":"text","text":"Done."}`), 0)))
	for age, want := range map[time.Duration]string{time.Second: "working", time.Minute: "unknown", time.Hour: "idle completed"} {
		w.config.Now = func() time.Time { return time.Now().Add(age) }
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, want)
	}
	w.hidden[p.PID] = true
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "stopped")
}

// A run with -p of a version whose registry has no status works from its start.
func TestOneShotStarts(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"status": nil, "entrypoint": "sdk-cli"})
	status := func(want string) {
		t.Helper()
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, want)
	}
	status("working")
	w.transcript(1, old(promptLine("before"), time.Hour), old(doneLine("m"), time.Hour))
	status("working")
	w.transcript(1, promptLine("now"), doneLine("m"))
	status("idle completed")
	w.entry(p, id(1), map[string]any{"status": nil})
	w.transcript(1)
	status("idle")
}

// A run with -p of a version that records its prompt together with the answer.
func TestOneShotWithoutRegistry(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	w.start(dir)
	own := w.ownTable()
	w.transcript(1, inFolder(dir, old(promptLine("before"), time.Hour)), inFolder(dir, old(doneLine("m"), time.Hour)))
	for want, args := range map[string][]string{
		"working":        {"claude", "-p", "now", "--resume", id(1)},
		"idle completed": {"claude", "-p", "--input-format", "stream-json"},
	} {
		w.config.Table = arguing{own, args}
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, want)
	}
	w.config.Table = arguing{own, []string{"claude", "-p", "now"}}
	w.transcript(1, inFolder(dir, old(promptLine("now"), 0)), inFolder(dir, old(doneLine("m"), 0)))
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "idle completed")
}

// arguing is a table whose processes have these arguments.
type arguing struct {
	ownTable
	args []string
}

func (t arguing) Args(proc.Identity) ([]string, error) { return t.args, nil }

// Of two that shared a folder one has ended: which one isn't known, unless its
// user left it or it was a run with -p.
func TestOneLeftOfTwoWithoutRegistry(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	w.config.Table = shifted{w.ownTable(), map[int]time.Duration{p.PID: 30 * time.Minute}}
	line := func(l string, ago time.Duration) string { return inFolder(dir, old(l, ago)) }
	mine := []string{line(promptLine("a"), 20*time.Minute), line(doneLine("m"), 15*time.Minute)}
	other := []string{line(promptLine("b"), 10*time.Minute), line(callLine("m2", "t", "Bash"), 9*time.Minute)}
	w.transcript(1, mine...)
	w.transcript(2, other...)
	sessions, _, _ := w.discover(adapters.Query{})
	for n := 1; n <= 2; n++ {
		if s := w.expect(sessions, n, "unknown"); !s.Process.IsZero() {
			t.Errorf("session %d has process %v", n, s.Process)
		}
	}
	w.transcript(2, append([]string{enqueue("b") + "\n", dequeue + "\n"}, other...)...)
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "stopped")
	if s := w.expect(sessions, 1, "idle completed"); s.Process.PID != p.PID {
		t.Errorf("process %v", s.Process)
	}
	w.transcript(2, other...)
	w.write(w.path("history.jsonl"), fmt.Sprintf(`{"display":"/exit","timestamp":%d,"project":%q,"sessionId":%q}`+"\n",
		time.Now().Add(-time.Minute).UnixMilli(), dir, id(2)))
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "stopped interrupted")
	w.expect(sessions, 1, "idle completed")
}

// Two processes in one folder, told apart by when the sessions began.
func TestTwoWithoutRegistryInOneFolder(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	first := w.start(dir)
	second := w.start(dir)
	w.config.Table = shifted{w.ownTable(), map[int]time.Duration{first.PID: 30 * time.Minute, second.PID: 10 * time.Minute}}
	line := func(l string, ago time.Duration) string { return inFolder(dir, old(l, ago)) }
	w.transcript(1, line(promptLine("a"), 20*time.Minute), line(doneLine("m"), 0))
	w.transcript(2, line(promptLine("b"), 5*time.Minute), line(promptLine("b2"), 0))
	sessions, _, _ := w.discover(adapters.Query{})
	if s := w.expect(sessions, 1, "idle completed"); s.Process.PID != first.PID {
		t.Errorf("session 1 has pid %d, want %d: %s", s.Process.PID, first.PID, s.Evidence)
	}
	if s := w.expect(sessions, 2, "working"); s.Process.PID != second.PID {
		t.Errorf("session 2 has pid %d, want %d: %s", s.Process.PID, second.PID, s.Evidence)
	}

	// Both began after both processes: the status is known, the process isn't.
	w.transcript(1, line(promptLine("a"), 4*time.Minute), line(doneLine("m"), 0))
	sessions, _, _ = w.discover(adapters.Query{})
	for n, want := range map[int]string{1: "idle completed", 2: "working"} {
		s := w.expect(sessions, n, want)
		if !s.Process.IsZero() || !strings.Contains(s.Evidence, fmt.Sprint(first.PID)) || !strings.Contains(s.Evidence, fmt.Sprint(second.PID)) {
			t.Errorf("session %d: process %v, evidence %q", n, s.Process, s.Evidence)
		}
	}

	// Three for two: which of them live can't be known.
	w.transcript(3, line(promptLine("c"), 3*time.Minute), line(doneLine("m"), 0))
	sessions, _, _ = w.discover(adapters.Query{})
	for n := 1; n <= 3; n++ {
		w.expect(sessions, n, "unknown")
	}
}

// What a process without a registry entry does not own.
func TestNotItsTranscript(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	w.start(dir)
	w.start(filepath.Join(w.home, "elsewhere"), "CLAUDE_CONFIG_DIR="+filepath.Join(w.home, "nowhere"))
	w.transcript(1, inFolder(dir, promptLine("one that recorded its end")), closing(time.Now()))
	w.transcript(2, old(promptLine("another folder"), 0))
	past := w.transcript(3, inFolder(dir, old(promptLine("before it started"), time.Hour)))
	w.check(os.Chtimes(past, time.Time{}, time.Now().Add(-time.Hour)))
	w.transcript(4, inFolder(filepath.Join(w.home, "elsewhere"), old(promptLine("another configuration"), 0)))
	sessions, _, err := w.discover(adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	w.expect(sessions, 1, "stopped interrupted")
	for n := 2; n <= 4; n++ {
		w.expect(sessions, n, "stopped")
	}
}

func TestProjectName(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/dev/proj": "-home-dev-proj", "/a.b/c_d é😀": "-a-b-c-d----", "/" + strings.Repeat("x", 300): "",
	} {
		if got := projectName(cwd); got != want {
			t.Errorf("%s: %s, want %s", cwd, got, want)
		}
	}
}

func TestWatchPaths(t *testing.T) {
	w := newFixture(t)
	a := New(w.config)
	want := func(paths ...string) {
		t.Helper()
		if got := a.WatchPaths(); fmt.Sprint(got) != fmt.Sprint(paths) {
			t.Errorf("watches %v, want %v", got, paths)
		}
	}
	want(w.path("sessions"))
	dir := filepath.Join(w.home, "proj")
	p := w.startEarlier(dir)
	w.transcript(1, inFolder(dir, old(promptLine("a"), 0)))
	_, _, _ = ask(t, a, adapters.Query{})
	want(w.path("projects", slug), w.path("sessions"))
	w.entry(p, id(2), nil)
	_, _, _ = ask(t, a, adapters.Query{})
	want(w.path("sessions"))
	w.check(os.RemoveAll(w.path("sessions")))
	_, _, _ = ask(t, New(w.config), adapters.Query{})
	a = New(w.config)
	want(w.path())
	w.check(os.RemoveAll(w.path()))
	want()
}

// childOf adds a child to the table: the real one's age is what it is.
type childOf struct {
	ownTable
	young proc.Process
}

func (t childOf) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.ownTable.List(ctx)
	return append(rows, t.young), err
}

// shifted makes processes look older than they are.
type shifted struct {
	ownTable
	older map[int]time.Duration
}

func (t shifted) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.ownTable.List(ctx)
	for i := range rows {
		rows[i].Started = rows[i].Started.Add(-t.older[rows[i].PID])
	}
	return rows, err
}

func (t shifted) Find(pid int) (proc.Process, error) {
	p, err := t.ownTable.Find(pid)
	p.Started = p.Started.Add(-t.older[pid])
	return p, err
}
