package codex

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// Whatever lies in one rollout's place, the others are right, the trouble is
// named, and it takes no time.
func TestBadRollouts(t *testing.T) {
	good := newScript(threadA, "0.169.0").turn("a", "x").text()
	begin := newScript(threadB, "0.169.0").turn("a", "before").start("b").prompt("now").text()
	done := `{"timestamp":"2026-11-21T05:10:00Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"b","last_agent_message":"ok"}}` + "\n"
	tests := map[string]struct {
		put     func(t *testing.T, path string)
		status  adapters.Status // "" for no session
		outcome adapters.Outcome
		problem string
		skipped string
	}{
		"cut off in the midst of a record": {text(begin + done[:40]), adapters.Stopped, adapters.Died, "", ""},
		"garbage between records":          {text(begin + "}{ not JSON\n\x00\x00\x00\n\xff\xfe\n" + done), adapters.Stopped, adapters.Completed, "", "line that is not a record"},
		"records of unknown kinds": {text(begin + `{"timestamp":"2026-11-21T05:10:00Z","type":"dream","payload":{}}` + "\n" + done),
			adapters.Stopped, adapters.Completed, "", "unknown record type dream"},
		"a byte order mark":                    {text("\xef\xbb\xbf" + begin + done), adapters.Stopped, adapters.Completed, "", ""},
		"two records on a line":                {text(strings.TrimSuffix(begin, "\n") + done), adapters.Stopped, adapters.Completed, "", ""},
		"two on a last line that is not ended": {text(strings.TrimSuffix(begin+done, "\n") + strings.TrimSuffix(done, "\n")), adapters.Stopped, adapters.Completed, "", ""},
		"two and a part on a last line":        {text(strings.TrimSuffix(begin, "\n") + strings.TrimSuffix(done, "\n") + done[:40]), adapters.Stopped, adapters.Completed, "", ""},
		"a part of a record before one":        {text(begin + done[:40] + done), adapters.Stopped, adapters.Completed, "", ""},
		"everything on one line":               {text(strings.ReplaceAll(begin+done, "\n", "") + "\n"), adapters.Stopped, adapters.Completed, "", ""},
		"a record of 20 MB":                    {text(begin + huge("function_call_output", 20<<20) + done), adapters.Stopped, adapters.Completed, "", ""},
		"an answer of 20 MB at the end":        {text(begin + huge("function_call_output", 20<<20)), adapters.Stopped, adapters.Died, "", ""},
		"a record of 60 MB":                    {late(func() string { return begin + huge("function_call_output", 60<<20) + done }), adapters.Stopped, adapters.Completed, "", ""},
		"a record of 65 MB":                    {late(func() string { return begin + huge("function_call_output", 65<<20) + done }), adapters.Stopped, adapters.Completed, "", ""},
		"a result of 65 MB at the end":         {late(func() string { return begin + huge("function_call_output", 65<<20) }), adapters.Stopped, adapters.Died, "", ""},
		"an end of 3 MB":                       {late(func() string { return begin + hugeEnd(3<<20) + "\n" }), adapters.Stopped, adapters.Completed, "", ""},
		"an end of 65 MB":                      {late(func() string { return begin + hugeEnd(65<<20) + "\n" }), adapters.Stopped, "", "", ""},
		"an end of 3 MB that is being written": {late(func() string { return begin + hugeEnd(3 << 20)[:2<<20] }), adapters.Stopped, adapters.Died, "", ""},
		"an end on a part of a result of 3 MB": {late(func() string { return begin + huge("function_call_output", 3<<20)[:2<<20] + done }), adapters.Stopped, adapters.Completed, "", ""},
		"a long end on a part of such a result": {late(func() string { return begin + huge("function_call_output", 3<<20)[:2<<20] + hugeEnd(9000) + "\n" }),
			adapters.Stopped, adapters.Completed, "", ""},
		"brackets, 60 million deep": {late(func() string { return begin + strings.Repeat("[", 60<<20) + "\n" + done }), adapters.Stopped, adapters.Completed, "", "line that is not a record"},
		"a record 4 million deep": {late(func() string {
			return begin + strings.Replace(huge("function_call_output", 0), `""`, strings.Repeat(`{"a":`, 4<<20)+"1"+strings.Repeat("}", 4<<20), 1) + done
		}),
			adapters.Stopped, adapters.Completed, "", ""},
		"1 GB of zeros, then a result": {hole(begin, 1<<30, "\n"+huge("function_call_output", 10)+done), adapters.Stopped, adapters.Completed, "", ""},
		"nothing but a line of 200 MB": {hole(begin, 200<<20, ""), adapters.Stopped, "", "", ""},
		"2 GB":                         {hole(begin, 2<<30, "\n"+done), adapters.Stopped, adapters.Completed, "", ""},
		"empty":                        {text(""), "", "", "", "empty rollout"},
		"no session_meta":              {text(`{"id":"x","timestamp":"2025-01-01T00:00:00Z"}` + "\n" + done), adapters.Stopped, "", "", "rollout in a form that is not recognised (Codex before 0.32)"},
		"not JSON at all":              {text("hello\n"), adapters.Stopped, "", "", "rollout in a form that is not recognised (Codex before 0.32)"},
		"a folder":                     {func(t *testing.T, p string) { must.Do(t, os.MkdirAll(p, 0o755)) }, "", "", "", ""},
		"a named pipe":                 {func(t *testing.T, p string) { must.Do(t, syscall.Mkfifo(p, 0o600)) }, "", "", "not a regular file", ""},
		"a link to itself":             {func(t *testing.T, p string) { must.Do(t, os.Symlink(p, p)) }, "", "", "too many levels of symbolic links", ""},
		"a link to nothing":            {func(t *testing.T, p string) { must.Do(t, os.Symlink("/nowhere", p)) }, "", "", "", ""},
		"a broken packed file":         {packed([]byte("\x28\xb5\x2f\xfd no zstd")), "", "", "unreadable", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			home := home(t)
			write(t, rolloutPath(home, threadA), good)
			test.put(t, rolloutPath(home, threadB))
			a := atNow(home)
			roll, err := a.Discover(t.Context(), adapters.Query{})
			sessions := below(home, roll)
			want(t, sessions[threadA], adapters.Stopped, adapters.Completed, 0)
			s, there := sessions[threadB]
			if there != (test.status != "") {
				t.Errorf("session there: %v (%v)", there, err)
			} else if there {
				want(t, s, test.status, test.outcome, 0)
				if wrong := adaptertest.Invalid(&s); wrong != nil {
					t.Error(wrong)
				}
			}
			if test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), threadB)) {
				t.Errorf("problem %v does not say %q with the file's name", err, test.problem)
			}
			if test.skipped != "" && roll.Skipped[test.skipped] == 0 {
				t.Errorf("skipped %v, want %q", roll.Skipped, test.skipped)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.HeapInuse > 100<<20 {
				t.Errorf("%d MB of heap", m.HeapInuse>>20)
			}
		})
	}
}

func text(s string) func(*testing.T, string) {
	return func(t *testing.T, path string) { write(t, path, s) }
}

// late makes the text when it is written, so that it does not count as memory of the adapter.
func late(s func() string) func(*testing.T, string) {
	return func(t *testing.T, path string) { write(t, path, s()) }
}

func packed(b []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) { write(t, path+".zst", string(b)) }
}

// hole writes begin, then so many bytes that were never written (zeros), then end.
func hole(begin string, size int64, end string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		write(t, path, begin)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must.Do(t, err)
		defer f.Close()
		must.Do(t, f.Truncate(size))
		_, err = f.WriteAt([]byte(end), size)
		must.Do(t, err)
	}
}

func huge(kind string, size int) string {
	return `{"timestamp":"2026-11-21T05:09:00Z","type":"response_item","payload":{"type":"` + kind + `","call_id":"c","output":"` +
		strings.Repeat("x", size) + `"}}` + "\n"
}

// hugeEnd is a task_complete whose last message has size bytes.
func hugeEnd(size int) string {
	return `{"timestamp":"2026-11-21T05:10:00Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"b","last_agent_message":"` +
		strings.Repeat("y", size) + `"}}`
}

// A rollout that is written anew, shorter or longer, while it is read: each
// answer is that of some state of it, and none hangs.
func TestRewrittenWhileRead(t *testing.T) {
	home := home(t)
	path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
	short := newScript(threadA, "0.169.0").turn("a", "short").text()
	long := newScript(threadA, "0.169.0")
	for i := range 300 {
		long.turn(fmt.Sprint("t", i), "long"+strings.Repeat(".", i%50))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for i := 0; ctx.Err() == nil; i++ {
			s := short
			if i%2 == 0 {
				s = long.text()
			}
			os.WriteFile(path, []byte(s), 0o644)
		}
	}()
	a, answers := atNow(home), 0
	for ctx.Err() == nil {
		roll, err := a.Discover(t.Context(), adapters.Query{IDs: []string{threadA}})
		s, there := below(home, roll)[threadA]
		if !there {
			if err == nil && roll.Skipped["empty rollout"] == 0 {
				t.Fatal("neither a session nor a problem")
			}
			continue
		}
		answers++
		if s.FirstPrompt != "" && s.FirstPrompt != "x" && s.FirstPrompt != "short" && !strings.HasPrefix(s.FirstPrompt, "long") {
			t.Fatalf("first prompt %q", s.FirstPrompt)
		}
	}
	<-finished
	if answers == 0 {
		t.Error("no answer at all")
	}
	write(t, path, newScript(threadA, "0.169.0").start("a").prompt("last").text())
	if s := look(t, a, home, adapters.Query{})[threadA]; s.LastPrompt != "last" || s.Outcome != adapters.Died {
		t.Errorf("in the end: %q, %s", s.LastPrompt, s.Outcome)
	}
}

// Text full of escape sequences comes as the agent wrote it; a status never
// depends on it.
func TestHostileText(t *testing.T) {
	home := home(t)
	evil := "\x1b]0;owned\x07<b>&\u202e\x00" + `"},"type":"task_complete"`
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").start("a").prompt(evil).text())
	s := look(t, atNow(home), home, adapters.Query{})[threadA]
	want(t, s, adapters.Stopped, adapters.Died, 0)
	if s.FirstPrompt != evil {
		t.Errorf("first prompt %q", s.FirstPrompt)
	}
}

// Loops of symbolic links among the folders end, and are named.
func TestLoopOfFolders(t *testing.T) {
	home := home(t)
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
	sessions := filepath.Join(home, ".codex", "sessions")
	must.Do(t, os.Symlink(sessions, filepath.Join(sessions, "2025")))
	must.Do(t, os.Symlink(filepath.Join(sessions, "2026", "11", "20"), filepath.Join(sessions, "2026", "11", "20")))
	roll, err := atNow(home).Discover(t.Context(), adapters.Query{})
	if len(below(home, roll)) != 1 || err == nil || !strings.Contains(err.Error(), "symbolic links") {
		t.Errorf("%d sessions, %v", len(below(home, roll)), err)
	}
}

// Concurrent questions, while a rollout grows and the caches fill.
func TestConcurrent(t *testing.T) {
	home := home(t)
	for i := range 30 {
		id := fmt.Sprintf("01a1fc98-aaaa-7000-8000-%012d", i)
		write(t, rolloutPath(home, id), newScript(id, "0.169.0").turn("a", "x").text())
	}
	write(t, filepath.Join(home, ".codex", "session_index.jsonl"), `{"id":"`+threadA+`","thread_name":"N"}`+"\n")
	path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
	a := atNow(home)
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 10 {
				roll, _ := a.Discover(t.Context(), adapters.Query{})
				if n := len(below(home, roll)); n != 31 {
					t.Errorf("%d sessions, want 31", n)
				}
				a.WatchPaths()
			}
		}()
	}
	var b bytes.Buffer
	for i := range 100 {
		b.Reset()
		more := newScript(threadA, "").start(fmt.Sprint(i)).prompt("y").call("c", `{}`)
		b.WriteString(strings.Join(more.lines[1:], "\n") + "\n")
		appendTo(t, path, b.String())
	}
	for range 4 {
		<-done
	}
	if s := look(t, a, home, adapters.Query{})[threadA]; s.LastPrompt != "y" || s.Title != "N" {
		t.Errorf("%q %q", s.LastPrompt, s.Title)
	}
}

// A rollout that was written anew, longer than before, is another one.
func TestWrittenAnew(t *testing.T) {
	home := home(t)
	path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "first").text())
	a := atNow(home)
	if s := look(t, a, home, adapters.Query{})[threadA]; s.FirstPrompt != "first" {
		t.Fatalf("first prompt %q", s.FirstPrompt)
	}
	write(t, path, newScript(threadA, "0.169.0").turn("a", "second").start("b").prompt("third").text())
	s := look(t, a, home, adapters.Query{})[threadA]
	if s.FirstPrompt != "second" || s.LastPrompt != "third" {
		t.Errorf("prompts %q and %q", s.FirstPrompt, s.LastPrompt)
	}
}

// A rollout that appears within one tick of a coarse clock after its folder was
// read is seen by the next look, though the folder's time is the same.
func TestNewRolloutAtOnce(t *testing.T) {
	home := home(t)
	a := atNow(home)
	day := filepath.Dir(rolloutPath(home, threadA))
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
	tick := time.Now().Truncate(10 * time.Millisecond)
	must.Do(t, os.Chtimes(day, tick, tick))
	if n := len(look(t, a, home, adapters.Query{})); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	write(t, rolloutPath(home, threadB), newScript(threadB, "0.169.0").turn("a", "x").text())
	must.Do(t, os.Chtimes(day, tick, tick))
	if n := len(look(t, a, home, adapters.Query{})); n != 2 {
		t.Errorf("%d sessions, want the new one as well", n)
	}
}
