package pistore

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

// A process that read a session when it began has it, before any prompt. A turn
// that was left open before is not that process's.
func TestReopened(t *testing.T) {
	tests := []struct {
		name, live, alone string
		turn              func(s *script)
	}{
		{"turn over", "idle completed", "stopped completed", func(s *script) { s.answer(2*second, "stop") }},
		{"turn left open", "idle died", "stopped died", func(*script) {}},
		{"tool left open", "idle died", "stopped died", func(s *script) { s.answer(2*second, "toolUse", call("a", "ls")) }},
		{"to be tried again", "idle died", "stopped died", func(s *script) { s.sys(second).answer(2*second, "error").omit(2 * second) }},
		{"failed", "idle failed", "stopped failed", func(s *script) { s.answer(2*second, "error") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			s := newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old")
			test.turn(s)
			path := w.put(s)
			w.put(newScript(idC, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(time.Minute, "not read").answer(2*time.Minute, "stop"))
			p, stop := w.start(adapters.Pi, w.cwd())
			a := w.store(adapters.Pi)
			w.expect(a, map[string]string{idA: test.alone, idC: "stopped completed", processID(p): "idle"})
			w.reads(p, path)
			for _, a := range []*Store{a, w.store(adapters.Pi)} {
				got := w.expect(a, map[string]string{idA: test.live, idC: "stopped completed"})
				if x := got[idA]; x.Process != p.Identity || !strings.Contains(x.Evidence, "read the session's file") {
					t.Errorf("%+v", x)
				}
			}
			s.prompt(time.Hour+time.Minute, "again")
			w.put(s)
			w.expect(a, map[string]string{idA: "working", idC: "stopped completed"})
			stop()
			w.expect(a, map[string]string{idA: "stopped died", idC: "stopped completed"})
		})
	}
}

// Two processes opened one session.
func TestReopenedTwice(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old"))
	p, stop := w.start(adapters.Pi, w.cwd())
	q, _ := w.start(adapters.Pi, w.cwd())
	a := w.store(adapters.Pi)
	w.reads(p, path)
	got := w.expect(a, map[string]string{idA: "idle died"})
	if x := got[idA]; !x.Process.IsZero() || !strings.Contains(x.Evidence, "can't be distinguished") {
		t.Errorf("%+v", x)
	}
	stop()
	if got = w.expect(a, map[string]string{idA: "idle died"}); got[idA].Process != q.Identity {
		t.Errorf("%+v", got[idA])
	}
}

// Of two processes that started together, one opened a session of its folder. The other one, which watches the
// repository of another folder, did not.
func TestReopenedBesideAnotherFolder(t *testing.T) {
	w := newFixture(t)
	dir, git := w.repository("work")
	other, otherGit := w.repository("other")
	path := w.put(newScript(idA, dir, time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	q, _ := w.start(adapters.Pi, other, "ROLLCALL_TEST_WATCH="+otherGit)
	p, stop := w.start(adapters.Pi, dir, "ROLLCALL_TEST_WATCH="+git)
	a := w.store(adapters.Pi)
	w.reads(p, path)
	if got := w.expect(a, map[string]string{idA: "idle completed", processID(q): "idle"}); got[idA].Process != p.Identity {
		t.Errorf("%+v", got[idA])
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", processID(q): "idle"})
}

// A run without a terminal searched the sessions of all folders for its id. In a storm of
// real agents it was given the newest of them, and its end was told as that session's.
func TestSearchedAllFolders(t *testing.T) {
	dir, start := t.TempDir(), time.Now().Add(-time.Minute)
	for _, c := range []struct {
		name   string
		read   []string // the folders of the sessions that were read, the oldest session first
		unread bool     // there is another session, which has not been read since it was written
		owned  string   // the folder of the session that counts as opened
		doubt  string
	}{
		{"the newest of its own folder, as with -c", []string{"own", "own"}, false, "own", ""},
		{"one of another folder, by its path", []string{"a"}, true, "a", ""},
		{"one of another folder; a search shows nowhere else", []string{"a"}, false, "", "a"},
		{"those of all folders", []string{"a", "b"}, false, "", ""},
		{"those of all folders, and its own", []string{"own", "b"}, false, "", "own"},
	} {
		var sessions []*session
		for i, folder := range c.read {
			path := filepath.Join(dir, fmt.Sprint(c.name, i))
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			written := start.Add(time.Duration(i-10) * time.Second)
			if err := os.Chtimes(path, start.Add(time.Second), written); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, &session{file: file{info: info}, facts: facts{header: header{id: fmt.Sprint(folder, i), cwd: folder, at: written}, last: written}})
		}
		all := sessions
		if c.unread {
			path := filepath.Join(dir, "unread")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			before := start.Add(-time.Hour)
			if err := os.Chtimes(path, before, before); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(slices.Clone(sessions), &session{file: file{info: info}, facts: facts{header: header{id: "unread", cwd: "c", at: before}, last: before}})
		}
		m := matcher{discovery: &discovery{answer: report.NewAnswer()}, sessions: all, has: map[*process]*session{}}
		m.assignReopened([]*process{{Process: proc.Process{Identity: proc.Identity{PID: 7, Start: 1}, Started: start}, cwd: "own", threadStartRead: true}})
		for i, s := range sessions {
			last := i == len(sessions)-1
			if owned := s.owner != nil; owned != (last && s.cwd == c.owned) {
				t.Errorf("%s: session %s has an owner: %v", c.name, s.id, owned)
			}
			if doubted := s.doubt != ""; doubted != (s.cwd == c.doubt) {
				t.Errorf("%s: session %s: %q", c.name, s.id, s.doubt)
			}
		}
	}
}

// What was read long after a process began, or before, is not what it opened; nor
// is a file's creation a read.
func TestNotReopened(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	created := w.put(newScript(idC, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	p, _ := w.start(adapters.Pi, w.cwd())
	now := time.Now()
	for _, at := range []time.Time{p.Started.Add(-time.Second), p.Started.Add(startLimit + time.Second)} {
		w.check(os.Chtimes(path, at, now.Add(-time.Minute)))
		w.check(os.Chtimes(created, now, now))
		w.expect(w.store(adapters.Pi), map[string]string{idA: "stopped completed", idC: "stopped completed", processID(p): "idle"})
	}
}

// Rollcall's own reads leave the time of the last access as it was.
func TestReadsLeaveNoTrace(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	old := time.Now().Add(-48 * time.Hour)
	w.check(os.Chtimes(path, old, time.Now()))
	got := w.expect(w.store(adapters.Pi), map[string]string{idA: "stopped completed"})
	if _, err := w.store(adapters.Pi).Peek(t.Context(), got[idA], 5); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	w.check(err)
	if at := agentfile.Accessed(info); !at.Equal(old.Truncate(time.Nanosecond)) {
		t.Errorf("accessed at %v, not %v", at, old)
	}
}

// A process that is connected and has stored nothing may be in a first turn.
func TestConnectedWithoutSession(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(adapters.Pi, w.cwd())
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(w.home, "model"))
	w.check(err)
	t.Cleanup(func() { listener.Close() })
	a := w.store(adapters.Pi)
	w.expect(a, map[string]string{processID(p): "idle"})
	w.order(p, order{Dial: listener.Addr().String()})
	got := w.expect(a, map[string]string{processID(p): "unknown"})
	if !strings.Contains(got[processID(p)].Evidence, "in a first turn") {
		t.Error(got[processID(p)].Evidence)
	}
}

// blindTable is a table of a system that does not show the connections of processes, such as macOS and Windows.
type blindTable struct{ ownTable }

func (blindTable) Sockets(proc.Identity) (int, error) { return 0, proc.ErrUnsupported }

// Where connections can't be seen, a process that has stored nothing may be in a first turn.
func TestConnectionNotKnown(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(adapters.Pi, w.cwd())
	a := New(adapters.Pi, adapters.Config{Home: w.home, Env: func(string) string { return "" }, Table: blindTable{w.ownTable()}})
	got := w.expect(a, map[string]string{processID(p): "unknown"})
	if e := got[processID(p)].Evidence; !strings.Contains(e, "has stored nothing") || !strings.Contains(e, "connections can't be read") {
		t.Error(e)
	}
}
