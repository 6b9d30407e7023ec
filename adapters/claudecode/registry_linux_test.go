package claudecode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// What the registry says of a live process is the status.
func TestRegistryStatus(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.transcript(1, promptLine("hi"), doneLine("m1"))
	for _, c := range []struct {
		status, waitingFor, want string
		skipped                  bool
	}{
		{"busy", "", "working", false},
		{"idle", "", "idle completed", false},
		{"shell", "", "idle completed", false},
		{"waiting", "permission prompt", "waiting permission", false},
		{"waiting", "sandbox request", "waiting permission", false},
		{"waiting", "input needed", "waiting question", false},
		{"waiting", "dialog open", "idle completed", false}, // the user's own: the turn is over
		{"waiting", "goal proposal", "waiting question", false},
		{"waiting", "worker request", "waiting permission", false},
		{"waiting", "the moon", "waiting question", true},
		{"dreaming", "", "unknown", true},
	} {
		w.entry(p, id(1), map[string]any{"status": c.status, "waitingFor": c.waitingFor})
		sessions, roll, err := w.discover(adapters.Query{})
		if err != nil {
			t.Errorf("%s: %v", c.status, err)
		}
		s := w.expect(sessions, 1, c.want)
		if s.Process != p.Identity {
			t.Errorf("%s: process %v, want %v", c.status, s.Process, p.Identity)
		}
		if (len(roll.Skipped) > 0) != c.skipped {
			t.Errorf("%s %s: skipped %v", c.status, c.waitingFor, roll.Skipped)
		}
		if roll.Versions["2.1.329"] != 1 {
			t.Errorf("versions: %v", roll.Versions)
		}
	}
}

// The registry never says error: the transcript does.
func TestIdleAfterAPIError(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	failed := strings.Replace(answerLine("m1", "stop_sequence", `{"type":"text","text":"API Error: 500"}`),
		`"type":"assistant"`, `"isApiErrorMessage":true,"apiErrorStatus":500,"type":"assistant"`, 1)
	w.transcript(1, promptLine("hi"), strings.Replace(failed, "claude-opus-5-5", "<synthetic>", 1))
	w.entry(p, id(1), nil)
	sessions, _, _ := w.discover(adapters.Query{})
	s := w.expect(sessions, 1, "idle failed")
	if s.Model != "" || !strings.Contains(s.Evidence, "500") {
		t.Errorf("model %q, evidence %q", s.Model, s.Evidence)
	}
}

func TestPidOfAnotherProcess(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.transcript(1, promptLine("hi"))
	w.entry(p, id(1), map[string]any{"status": "busy", "procStart": fmt.Sprint(p.Start - 1)})
	sessions, _, err := w.discover(adapters.Query{})
	s := w.expect(sessions, 1, "stopped died")
	if err != nil || !strings.Contains(s.Evidence, "another process") {
		t.Errorf("%v; evidence %q", err, s.Evidence)
	}
}

// An entry without procStart from another pid namespace: here its pid is older,
// and no claude.
func TestEntryOfAnotherProgram(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("hi"), doneLine("m"))
	cmd := exec.Command("/bin/sleep", "60")
	w.check(cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := w.table.Find(cmd.Process.Pid)
	w.check(err)
	w.entry(p, id(1), map[string]any{"procStart": nil, "status": nil, "pidDomain": nil, "version": nil,
		"startedAt": time.Now().UnixMilli()})
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "stopped completed")
}

func TestForeignDomain(t *testing.T) {
	w := newFixture(t)
	foreign := map[string]any{"status": "busy", "pidDomain": "linux:feedfeed:pid:[4026539999]"}
	live, gone := w.start(filepath.Join(w.home, "proj")), w.gone()
	w.transcript(1, promptLine("hi"))
	w.transcript(2, promptLine("hi"))
	w.entry(live, id(1), foreign)
	entry := w.entry(gone, id(2), foreign)
	sessions, _, err := w.discover(adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	w.expect(sessions, 1, "working") // pid and start match: it is this one
	if s := w.expect(sessions, 2, "unknown"); !strings.Contains(s.Evidence, "another machine or container") {
		t.Errorf("evidence %q", s.Evidence)
	}
	for _, path := range []string{entry, w.path("projects", slug, id(2)+".jsonl")} {
		w.check(os.Chtimes(path, time.Time{}, time.Now().Add(-49*time.Hour)))
	}
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "stopped died")
}

// The entry is truncated and written again all the time; no answer may miss the
// session or its status.
func TestEntryRewrittenWhileRead(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	path := w.entry(p, id(1), map[string]any{"status": "busy"})
	content, err := os.ReadFile(path)
	w.check(err)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			if err == nil {
				time.Sleep(200 * time.Microsecond)
				_, _ = f.Write(content[:300])
				_, _ = f.Write(content[300:])
				f.Close()
			}
			time.Sleep(time.Millisecond)
		}
	})
	a := New(w.config)
	for range 100 {
		sessions, _, err := ask(t, a, adapters.Query{})
		if err != nil {
			t.Error(err)
		}
		w.expect(sessions, 1, "working")
		if t.Failed() {
			break
		}
	}
	close(stop)
	wg.Wait()
}

// A registry file that can't be read makes the status of its process's session
// unknown, names the file, and leaves the others right.
func TestBrokenEntry(t *testing.T) {
	for name, content := range map[string]string{
		"garbage": "\x00\x01 not json", "cut off": `{"pid":1,"sess`, "empty": "", "array": "[]",
		"no id": `{"pid":PID,"status":"busy"}`, "other pid": `{"pid":7,"sessionId":"` + id(1) + `"}`,
		"id is a path": `{"pid":PID,"sessionId":"../../etc"}`, "huge": `{"pid":PID,"x":"` + strings.Repeat("y", entryLimit) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			dir := filepath.Join(w.home, "proj")
			broken, fine := w.start(dir), w.start(filepath.Join(w.home, "other"))
			w.inProject(dir, 1, promptLine("hi"))
			w.transcript(2, promptLine("hi"))
			path := w.write(w.path("sessions", fmt.Sprintf("%d.json", broken.PID)), strings.ReplaceAll(content, "PID", fmt.Sprint(broken.PID)))
			w.check(os.Chtimes(path, time.Time{}, time.Now().Add(-time.Minute))) // nobody is writing it
			w.entry(fine, id(2), map[string]any{"status": "busy"})
			sessions, _, err := w.discover(adapters.Query{})
			if !errors.Is(err, adapters.ErrFormat) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
			w.expect(sessions, 1, "unknown")
			w.expect(sessions, 2, "working")
		})
	}
}

// The process of an entry that can't be read doesn't vanish.
func TestEntryBreaks(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	path := w.entry(p, id(1), map[string]any{"status": "busy"})
	a := New(w.config)
	sessions, _, _ := ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "working")
	w.write(path, "{")
	for range 2 {
		_, roll, err := ask(t, a, adapters.Query{})
		got := rows(roll)
		if len(got) != 1 || got[0].Status != adapters.Unknown || got[0].Process != p.Identity || !errors.Is(err, adapters.ErrFormat) {
			t.Errorf("%v, error %v", got, err)
		}
	}
}

// What a dead process left behind is no trouble.
func TestBrokenEntryOfNoProcess(t *testing.T) {
	w := newFixture(t)
	w.write(w.path("sessions", fmt.Sprintf("%d.json", w.gone().PID)), "{")
	w.transcript(1, promptLine("hi"), doneLine("m"))
	sessions, roll, err := w.discover(adapters.Query{})
	if err != nil || len(roll.Skipped) != 1 {
		t.Errorf("%v, %v", err, roll.Skipped)
	}
	w.expect(sessions, 1, "stopped completed")
}

// Without the registry's folder nothing of a live claude's sessions is known.
func TestRegistryFolderUnreadable(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	w.start(dir)
	w.check(os.Remove(w.path("sessions")))
	w.write(w.path("sessions"), "not a folder")
	w.inProject(dir, 1, promptLine("hi"))
	sessions, _, err := w.discover(adapters.Query{})
	if !errors.Is(err, adapters.ErrUnreadable) || !strings.Contains(err.Error(), w.path("sessions")) {
		t.Errorf("error %v", err)
	}
	w.expect(sessions, 1, "unknown")
}

// The *.key files are secrets. Opening a named pipe would hang, or at least be
// noticed by the writer that waits at its other end.
func TestKeysAreNeverOpened(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"status": "busy"})
	w.transcript(1, promptLine("hi"))
	key := w.path("sessions", fmt.Sprintf("%d.0123abcd.key", p.PID))
	w.check(syscall.Mkfifo(key, 0o600))
	a := New(w.config)
	for _, q := range []adapters.Query{{}, {Totals: true}, {IDs: []string{id(1)}}} {
		sessions, _, err := ask(t, a, q)
		if err != nil {
			t.Error(err)
		}
		w.expect(sessions, 1, "working")
		// With a reader this open for writing would succeed.
		if f, err := os.OpenFile(key, os.O_WRONLY|syscall.O_NONBLOCK, 0); !errors.Is(err, syscall.ENXIO) {
			t.Errorf("somebody has the key open: %v", err)
			f.Close()
		}
	}
	var before, after syscall.Stat_t
	w.check(os.WriteFile(key+"2.key", []byte("secret"), 0o600))
	w.check(os.Chtimes(key+"2.key", time.Unix(1, 0), time.Unix(2, 0))) // a read moves such an access time, also with relatime
	w.check(syscall.Stat(key+"2.key", &before))
	_, _, _ = ask(t, a, adapters.Query{Totals: true})
	w.check(syscall.Stat(key+"2.key", &after))
	if before.Atim != after.Atim {
		t.Error("a key was read")
	}
}

// A session that was resumed twice shows once: what needs the user first.
func TestTwoProcessesOneSession(t *testing.T) {
	w := newFixture(t)
	p, q := w.start(filepath.Join(w.home, "a")), w.start(filepath.Join(w.home, "b"))
	w.transcript(1, promptLine("hi"))
	w.entry(p, id(1), map[string]any{"status": "idle"})
	w.entry(q, id(1), map[string]any{"status": "waiting", "waitingFor": "permission prompt"})
	sessions, _, _ := w.discover(adapters.Query{})
	s := w.expect(sessions, 1, "waiting permission")
	if s.Process != q.Identity || !strings.Contains(s.Evidence, fmt.Sprint(p.PID)) {
		t.Errorf("process %v, evidence %q", s.Process, s.Evidence)
	}
}

// A process was killed in a turn, and the next one has a prompt, which its entry does not show yet.
func TestPromptAfterAKill(t *testing.T) {
	w := newFixture(t)
	now := time.Now()
	millis := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() }
	w.entry(w.gone(), id(1), map[string]any{"status": "busy", "startedAt": millis(time.Minute), "statusUpdatedAt": millis(50 * time.Second)})
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"status": "idle", "startedAt": millis(10 * time.Second), "statusUpdatedAt": millis(5 * time.Second)})
	w.transcript(1, promptLine("hi"))
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "idle")
}

// Before the first prompt there is no transcript, and yet a session.
func TestEntryWithoutTranscript(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"name": "My run", "nameSource": "user"})
	w.entry(w.gone(), id(2), map[string]any{"status": "busy"})
	sessions, _, err := w.discover(adapters.Query{Totals: true})
	s := w.expect(sessions, 1, "idle")
	if err != nil || s.CWD != "/home/dev/proj" || s.Title != "My run" || s.StartedAt.IsZero() || s.Version != "2.1.329" {
		t.Errorf("%v: %+v", err, s)
	}
	w.expect(sessions, 2, "stopped died") // before it wrote its first prompt down
}

// CLAUDE_CONFIG_DIR of a live process is looked in as well, each folder once.
func TestRootsOfLiveProcesses(t *testing.T) {
	w := newFixture(t)
	other := filepath.Join(w.home, "work-config")
	w.check(os.MkdirAll(other, 0o755))
	link := filepath.Join(w.home, "link")
	w.check(os.Symlink(other, link))
	p := w.start(filepath.Join(w.home, "p"), "CLAUDE_CONFIG_DIR="+other)
	q := w.start(filepath.Join(w.home, "q"), "CLAUDE_CONFIG_DIR="+link)
	for n, proc := range map[int]proc.Process{1: p, 2: q} {
		path := w.entry(proc, id(n), map[string]any{"status": "busy"})
		w.check(os.MkdirAll(filepath.Join(other, "sessions"), 0o755))
		w.check(os.Rename(path, filepath.Join(other, "sessions", filepath.Base(path))))
	}
	sessions, roll, err := w.discover(adapters.Query{})
	if err != nil || len(roll.LookedIn) != 4 {
		t.Errorf("%v, looked in %v", err, roll.LookedIn)
	}
	w.expect(sessions, 1, "working")
	w.expect(sessions, 2, "working")
}

func TestAbsent(t *testing.T) {
	w := newFixture(t)
	w.check(os.RemoveAll(w.path()))
	if _, roll, err := w.discover(adapters.Query{}); !errors.Is(err, adapters.ErrAbsent) || len(roll.LookedIn) == 0 {
		t.Errorf("%v, looked in %v", err, roll.LookedIn)
	}
	w.start(w.home)
	if _, _, err := w.discover(adapters.Query{}); err != nil {
		t.Errorf("with a live claude: %v", err)
	}
}

func TestProcessStartForms(t *testing.T) {
	p := proc.Process{Identity: proc.Identity{PID: 5, Start: 134405621450000000}, Started: time.Date(2026, 11, 1, 5, 29, 5, 700e6, time.UTC), Comm: "claude"}
	for _, c := range []struct {
		e    entry
		want bool
	}{
		{entry{procFT: "134405621450000000"}, true},
		{entry{procFT: "134405621450000001"}, false},
		{entry{procFT: "soon"}, false},
		{entry{procStart: "Sun Nov  1 05:29:05 2026"}, true},
		{entry{procStart: "Sun Nov  1 05:30:05 2026"}, false},
		{entry{procStart: "Sun Nov 1 05:29:05 2026 "}, false},
		{entry{procStart: "134405621450000000"}, true},
		{entry{procStart: "7"}, false},
		{entry{started: p.Started.Add(time.Second)}, true}, // before about 2.1.139
		{entry{started: p.Started.Add(-time.Hour)}, false},
	} {
		if got := c.e.isBy(p); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}
