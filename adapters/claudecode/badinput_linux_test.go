package claudecode

import (
	"context"
	"encoding/json"
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
	"rollcall/internal/adaptertest"
)

// Where no transcript has a record of a known form, the format is not recognised, whoever asks for whichever session.
func TestNothingRecognised(t *testing.T) {
	w := newFixture(t)
	path := w.transcript(1, `{"type":"a kind that nobody knows"}`+"\n")
	for _, q := range []adapters.Query{{}, {IDs: []string{id(1)}}} {
		if _, _, err := w.discover(q); !errors.Is(err, adapters.ErrFormat) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v", err)
		}
	}
	w.transcript(1, `{"type":"teleported-from","messageCount":0}`+"\n")
	if _, roll, err := w.discover(adapters.Query{}); err != nil || len(roll.Skipped) > 0 {
		t.Errorf("a known record: %v, %v", err, roll.Skipped)
	}
}

// One bad transcript leaves the other sessions right.
func TestBadTranscripts(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	for _, c := range []struct {
		name, want string
		lines      []string
		kind       error // of the Problem that names the file; nil: none
		skipped    string
	}{
		{"cut off in the last line", "stopped died", []string{promptLine("hi"), doneLine("m")[:200]}, nil, ""},
		{"last line without newline", "stopped completed", []string{promptLine("hi"), strings.TrimSpace(doneLine("m"))}, nil, ""},
		{"garbage line", "stopped completed", []string{promptLine("hi"), "\x00\x00\xff{]\n", doneLine("m")}, nil, "line that is not JSON"},
		{"zeros after a crash", "stopped died", []string{promptLine("hi"), strings.Repeat("\x00", 70_000) + "\n"}, nil, "line that is not JSON"},
		{"all garbage", "missing", []string{strings.Repeat("garbage\n", 50)}, nil, "line that is not JSON"},
		{"unknown records", "missing", []string{`{"type":"kind of record that nobody knows, and a long name of it"}` + "\n"}, nil,
			"unknown record type kind of record that nobody knows, and a …"},
		{"line of 20 MB first", "stopped completed", []string{promptLine(long), doneLine("m")}, nil, ""},
		{"line of 20 MB in the middle", "stopped completed", []string{promptLine("hi"), callLine("m", "t", "Read"),
			userLine(`[{"tool_use_id":"t","type":"tool_result","content":"` + long + `"}]`), doneLine("m2")}, nil, ""},
		{"line of 20 MB last", "stopped died", []string{promptLine("hi"), callLine("m", "t", "Read"),
			userLine(`[{"tool_use_id":"t","type":"tool_result","content":"` + long + `"}]`)}, nil, ""},
		{"line over the cap last", "stopped", []string{promptLine("hi"), userLine(`"` + strings.Repeat(long, 4) + `"`)}, nil, longReason},
		{"no turn", "stopped", []string{`{"type":"mode","mode":"normal"}` + "\n", promptLine("<command-name>/exit</command-name>"),
			promptLine("<local-command-stdout>Bye!</local-command-stdout>")}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			path := w.transcript(1, c.lines...)
			w.transcript(2, promptLine("fine"), doneLine("m"))
			sessions, roll, err := w.discover(adapters.Query{Totals: true})
			w.expect(sessions, 1, c.want)
			if s := w.expect(sessions, 2, "stopped completed"); s.Tokens == nil || s.Tokens.Output != 4 {
				t.Errorf("tokens of the other one: %+v", s.Tokens)
			}
			switch {
			case c.kind == nil && err != nil:
				t.Error(err)
			case c.kind != nil && (!errors.Is(err, c.kind) || !strings.Contains(err.Error(), path)):
				t.Errorf("error %v", err)
			}
			if c.skipped != "" && roll.Skipped[c.skipped] == 0 || c.skipped == "" && len(roll.Skipped) > 0 {
				t.Errorf("skipped: %v", roll.Skipped)
			}
		})
	}
}

// 64 GB with a conversation at either end, and nothing but a hole between them.
func TestHugeHole(t *testing.T) {
	w := newFixture(t)
	path := w.transcript(1, promptLine("at the beginning"), doneLine("m1"))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	w.check(err)
	_, err = f.WriteAt([]byte("\n"+promptLine("at the end")+doneLine("m2")), 64<<30)
	w.check(errors.Join(err, f.Close()))
	w.transcript(2, promptLine("fine"), doneLine("m"))
	a := New(w.config)
	sessions, _, err := ask(t, a, adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	s := w.expect(sessions, 1, "stopped completed")
	if s.FirstPrompt != "at the beginning" || s.LastPrompt != "at the end" || s.Tokens != nil {
		t.Errorf("%q, %q, %v", s.FirstPrompt, s.LastPrompt, s.Tokens)
	}

	// The sum would take the reading of 64 GB, so it stays unknown, and holds up no other.
	roll, err := a.Discover(t.Context(), adapters.Query{Totals: true})
	if err != nil || len(roll.Sessions) != 2 {
		t.Errorf("%v, %d sessions", err, len(roll.Sessions))
	}
	for _, s := range roll.Sessions {
		if (s.Tokens == nil) != (s.ID == id(1)) {
			t.Errorf("%s: tokens %v", s.ID, s.Tokens)
		}
	}
}

// What has the name of a transcript and is none.
func TestNoTranscripts(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("fine"), doneLine("m"))
	project := w.path("projects", slug)
	w.check(os.Mkdir(filepath.Join(project, id(2)+".jsonl"), 0o755))
	w.check(syscall.Mkfifo(filepath.Join(project, id(3)+".jsonl"), 0o644))
	w.check(os.Symlink(id(4)+".jsonl", filepath.Join(project, id(4)+".jsonl")))
	w.check(os.Symlink("nowhere", filepath.Join(project, id(5)+".jsonl")))
	w.check(os.Symlink("/dev/zero", filepath.Join(project, id(6)+".jsonl")))
	w.check(os.Symlink("..", filepath.Join(project, "up")))
	w.check(os.Symlink("..", w.path("projects", "up")))
	w.check(os.Symlink(slug, w.path("projects", "same")))
	w.check(os.Symlink("loop", w.path("projects", "loop")))
	w.check(syscall.Mkfifo(w.path("sessions", "77.json"), 0o644))
	w.write(filepath.Join(project, id(7)+".jsonl"), "")
	w.write(filepath.Join(project, "agent-"+id(8)+".jsonl"), promptLine("warm-up"))
	w.write(filepath.Join(project, id(1), "subagents", "agent-a1.jsonl"), promptLine("sub-agent"))
	w.write(filepath.Join(project, "notes.jsonl"), promptLine("notes"))
	sessions, _, err := w.discover(adapters.Query{Totals: true})
	w.expect(sessions, 1, "stopped completed")
	if len(sessions) != 1 {
		t.Errorf("%d sessions: %v", len(sessions), sessions)
	}
	if !errors.Is(err, adapters.ErrUnreadable) || !strings.Contains(err.Error(), filepath.Join("projects", "loop")) {
		t.Errorf("the loop: %v", err)
	}
}

// As a user who may not read everything.
func TestUnreadable(t *testing.T) {
	w := newFixture(t)
	secret := w.transcript(1, promptLine("hi"), doneLine("m"))
	w.transcript(2, promptLine("hi"), doneLine("m"))
	folder := w.path("projects", "-closed")
	w.write(filepath.Join(folder, id(3)+".jsonl"), promptLine("hi"))
	w.check(os.Chmod(secret, 0))
	w.check(os.Chmod(folder, 0))
	defer os.Chmod(folder, 0o755)
	for dir := w.path(); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		w.check(os.Chmod(dir, 0o755))
	}
	self, err := os.Executable()
	w.check(err)
	bin, err := os.ReadFile(self) // the test's own folder may be closed to others
	w.check(err)
	copied := filepath.Join(w.home, "test")
	w.check(os.WriteFile(copied, bin, 0o755))
	cmd := exec.Command(copied)
	cmd.Env = []string{"ROLLCALL_TEST_ROLE=discover", "HOME=" + w.home, "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.Output()
	w.check(err)
	var got struct {
		Sessions map[string]string
		Error    string
	}
	w.check(json.Unmarshal(out, &got))
	if got.Sessions[id(1)] != "stopped " || got.Sessions[id(2)] != "stopped completed" || len(got.Sessions) != 2 {
		t.Errorf("%v", got.Sessions)
	}
	for _, path := range []string{secret, folder} {
		if !strings.Contains(got.Error, path+": unreadable: permission denied (give your user read permission on it)") {
			t.Errorf("error doesn't name %s: %s", path, got.Error)
		}
	}
}

// discoverAsNobody asks the adapter and prints what it said.
func discoverAsNobody() int {
	a := New(adapters.Config{Home: os.Getenv("HOME"), Env: func(string) string { return "" }, Table: ownTable{adaptertest.NewOwnTable(os.Getpid()), nil}})
	roll, err := a.Discover(context.Background(), adapters.Query{Totals: true})
	sessions := make(map[string]string)
	for _, s := range roll.Sessions {
		sessions[s.ID] = fmt.Sprint(s.Status, " ", s.Outcome)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"Sessions": sessions, "Error": fmt.Sprint(err)})
	return 0
}

// Escape sequences and markup are handed on as they are, huge texts cut.
func TestUntrustedText(t *testing.T) {
	w := newFixture(t)
	nasty := "\x1b]0;title\x07\x1b[2J<b>bold</b>&amp;\u202e\r\n" + strings.Repeat("😀", 3000)
	w.transcript(1, promptLine(nasty), doneLine("m"),
		fmt.Sprintf(`{"type":"custom-title","customTitle":%q}`+"\n", "a\u0000b"))
	sessions, _, err := w.discover(adapters.Query{})
	s := w.expect(sessions, 1, "stopped completed")
	if err != nil || !strings.HasPrefix(nasty, s.FirstPrompt) || len(s.FirstPrompt) > textLimit || len(s.FirstPrompt) < textLimit-4 {
		t.Errorf("%v: %d bytes", err, len(s.FirstPrompt))
	}
}

// Stopped sessions before Since are left out, live ones never.
func TestSince(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	for n := 1; n <= 3; n++ {
		path := w.transcript(n, promptLine("hi"), doneLine("m"))
		if n < 3 {
			w.check(os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
		}
	}
	w.entry(p, id(1), map[string]any{"status": "busy"})
	sessions, _, _ := w.discover(adapters.Query{Since: time.Now().Add(-time.Minute)})
	w.expect(sessions, 1, "working")
	w.expect(sessions, 3, "stopped completed")
	if len(sessions) != 2 {
		t.Errorf("%d sessions", len(sessions))
	}
	a := New(w.config)
	for range 2 {
		sessions, _, _ = ask(t, a, adapters.Query{IDs: []string{id(2), id(9)}, Since: time.Now()})
		w.expect(sessions, 2, "stopped completed")
		if len(sessions) != 1 {
			t.Errorf("%d sessions", len(sessions))
		}
	}
}

// Many callers, while sessions come, grow, and go.
func TestConcurrentCallers(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"status": "busy"})
	path := w.transcript(1, promptLine("hi"))
	w.transcript(2, promptLine("hi"), doneLine("m"))
	a := New(w.config)
	stop := make(chan struct{})
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			line := doneLine(fmt.Sprint("m", n))
			_, _ = f.WriteString(line[:len(line)/2])
			_, _ = f.WriteString(line[len(line)/2:])
			fleeting := w.path("projects", slug, id(100+n)+".jsonl")
			_ = os.WriteFile(fleeting, []byte(line), 0o644)
			_ = os.Remove(fleeting)
		}
	})
	for i := range 4 {
		readers.Go(func() {
			for range 25 {
				sessions, roll, err := ask(t, a, adapters.Query{Totals: i%2 == 0})
				if err != nil || len(roll.Skipped) > 0 {
					t.Errorf("%v, skipped %v", err, roll.Skipped)
				}
				w.expect(sessions, 1, "working")
				w.expect(sessions, 2, "stopped completed")
				_ = a.WatchPaths()
			}
		})
	}
	readers.Wait()
	close(stop)
	writer.Wait()
	again, _, _ := ask(t, a, adapters.Query{Totals: true})
	fresh, _, _ := ask(t, New(w.config), adapters.Query{Totals: true})
	if *again[id(1)].Tokens != *fresh[id(1)].Tokens {
		t.Errorf("tokens %+v, read anew %+v", again[id(1)].Tokens, fresh[id(1)].Tokens)
	}
}

// Nothing below the agent's folder changes, whatever is asked.
func TestWritesNothing(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), nil)
	w.transcript(1, promptLine("hi"), doneLine("m"))
	w.write(w.path("sessions", fmt.Sprintf("%d.abc.key", p.PID)), "secret")
	before := adaptertest.TreeOf(t, w.home)
	for _, q := range []adapters.Query{{}, {Totals: true}, {IDs: []string{id(1)}}} {
		_, _, _ = w.discover(q)
	}
	if changes := before.Changes(adaptertest.TreeOf(t, w.home)); len(changes) > 0 {
		t.Error(changes)
	}
}
