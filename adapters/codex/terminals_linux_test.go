package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// scenery is a home with a daemon and terminal interfaces in one folder.
type scenery struct {
	t      *testing.T
	home   string
	folder string
	a      *Adapter
	daemon *codexProcess
	made   int
}

func newScenery(t *testing.T) *scenery {
	s := &scenery{t: t, home: home(t)}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	s.folder, s.a = folder, atNow(s.home)
	s.daemon = startCodex(t, "codex", []string{"CODEX_HOME=" + filepath.Join(s.home, ".codex")}, "app-server", "--listen", "unix://", "--managed-daemon")
	return s
}

// open starts a terminal interface in the folder.
func (s *scenery) open(args ...string) *codexProcess {
	s.t.Helper()
	return startCodexIn(s.t, s.folder, []string{"CODEX_HOME=" + filepath.Join(s.home, ".codex")}, append([]string{"codex"}, args...)...).do("read", "/dev/null")
}

// thread lets the daemon load a thread of a terminal interface that begins now, in mid-turn, and returns its id.
func (s *scenery) thread() string {
	s.t.Helper()
	return s.load(`"thread_source":"user"`)
}

// runThread does the same for a thread of a run with --remote, which has the originator of the daemon's first client too (0.171.0).
func (s *scenery) runThread() string {
	s.t.Helper()
	return s.load()
}

func (s *scenery) load(more ...string) string {
	s.t.Helper()
	s.made++
	id := newThread(s.made)
	text := scriptAt(time.Now().UTC(), id, "0.171.0", append(more, `"source":"vscode"`)...).atOnce().start("a").prompt("x").text()
	text = strings.NewReplacer("codex_exec", "codex-tui", "/home/dev/proj", s.folder).Replace(text)
	path := write(s.t, rolloutPath(s.home, id), text)
	s.daemon.do("open", path).do("lock", lockPath(s.t, s.home, id))
	return id
}

// rows returns the sessions of the home and the rows of its processes, by id and by pid.
func (s *scenery) rows() (sessions map[string]adapters.Session, processes map[int]adapters.Session) {
	s.t.Helper()
	roll, err := s.a.Discover(s.t.Context(), adapters.Query{Since: time.Now()})
	must.Do(s.t, err)
	processes = map[int]adapters.Session{}
	for _, x := range roll.Sessions {
		if x.IsProcess() {
			processes[x.Process.PID] = x
		}
	}
	return below(s.home, roll), processes
}

// check wants the rows of exactly these of the processes, and these threads
// without a terminal.
func (s *scenery) check(what string, all, listed []*codexProcess, unattended ...string) {
	s.t.Helper()
	sessions, processes := s.rows()
	for _, p := range append(all, s.daemon) {
		want := false
		for _, l := range listed {
			want = want || l == p
		}
		row, got := processes[p.cmd.Process.Pid]
		if got != want {
			s.t.Errorf("%s: process %d has a row: %v, want %v", what, p.cmd.Process.Pid, got, want)
		}
		if got && (row.Status != adapters.Idle || row.CWD != s.folder || !strings.Contains(row.Evidence, "no session yet") || !strings.Contains(row.Evidence, "trust this folder?")) {
			s.t.Errorf("%s: row %+v", what, row)
		}
	}
	for id, x := range sessions {
		want := false
		for _, u := range unattended {
			want = want || u == id
		}
		if x.Unattended != want || !x.Shared {
			s.t.Errorf("%s: thread %s unattended: %v, want %v", what, id, x.Unattended, want)
		}
	}
}

// shownBy wants these threads to be shown by these processes; nil: by none that is certain.
func (s *scenery) shownBy(what string, want map[string]*codexProcess) {
	s.t.Helper()
	sessions, _ := s.rows()
	for id, p := range want {
		pid := 0
		if p != nil {
			pid = p.cmd.Process.Pid
		}
		if got := sessions[id].Terminal.PID; got != pid {
			s.t.Errorf("%s: thread %s is shown by process %d, want %d", what, id, got, pid)
		}
	}
}

// Which terminal interfaces have no thread of the daemon, and which threads have no
// terminal any more.
func TestTerminalsOfTheDaemon(t *testing.T) {
	s := newScenery(t)
	first := s.open()
	all := []*codexProcess{first}
	s.check("before the first prompt", all, all)
	a := s.thread()
	s.check("a thread of its own", all, nil)

	second := s.open()
	all = append(all, second)
	s.check("a second one", all, []*codexProcess{second})
	b := s.thread()
	s.check("each with a thread", all, nil)
	s.shownBy("each with a thread", map[string]*codexProcess{a: first, b: second})

	alone := s.open("--no-daemon")
	s.check("one that uses no daemon", append(all, alone), []*codexProcess{alone})
	beside := s.thread()
	s.check("a thread that isn't its own", append(all, alone), []*codexProcess{alone})
	alone.kill()

	first.kill()
	s.check("the first closed", all[1:], nil, a)
	resumed := s.open("resume", "--no-alt-screen", a)
	s.check("its thread resumed", []*codexProcess{second, resumed}, nil)
	s.shownBy("its thread resumed", map[string]*codexProcess{a: resumed, b: nil, beside: nil}) // both can have begun in the second
	resumed.kill()
	s.check("and closed", all[1:], nil, a)
	list := s.open("resume")
	s.check("one that may show it", []*codexProcess{second, list}, nil)
	list.kill()
	third := s.open()
	s.check("a fresh one", []*codexProcess{second, third}, []*codexProcess{third}, a)
	second.kill()
	s.check("both closed", []*codexProcess{third}, []*codexProcess{third}, a, b, beside)
}

// TestTerminalsTogether: two interfaces were started before either had a thread, so that nothing tells which thread is whose, also after one
// was closed.
func TestTerminalsTogether(t *testing.T) {
	s := newScenery(t)
	all := []*codexProcess{s.open(), s.open()}
	a, b := s.thread(), s.thread()
	s.shownBy("two threads", map[string]*codexProcess{a: nil, b: nil})
	s.check("two threads", all, nil)
	all[1].kill()
	s.shownBy("one was closed", map[string]*codexProcess{a: nil, b: nil})
	s.check("one was closed", all[:1], nil)
	all[0].kill()
	s.check("both were closed", nil, nil, a, b)
}

// TestRunOfTheDaemon: a run with --remote hosts no thread (0.171.0). The daemon has its thread, which no terminal interface shows.
func TestRunOfTheDaemon(t *testing.T) {
	s := newScenery(t)
	fresh, first := s.open(), s.open("exec", "--remote", "unix://", "x")
	a := s.runThread()
	second := s.open("exec", "--remote", "unix://", "y")
	b := s.runThread()
	all := []*codexProcess{fresh, first, second}
	s.check("two runs", all, all[:1])
	s.shownBy("two runs", map[string]*codexProcess{a: first, b: second})
	s.headless("two runs", a, b)
	first.kill()
	second.kill()
	s.check("the runs ended", all[:1], all[:1]) // the daemon keeps their threads for a minute
	s.shownBy("the runs ended", map[string]*codexProcess{a: nil, b: nil})
	s.headless("the runs ended", a, b)
	c := s.thread()
	s.check("the terminal began one", all[:1], nil)
	s.shownBy("the terminal began one", map[string]*codexProcess{a: nil, b: nil, c: fresh})
	s.headless("the terminal began one", a, b)
	fresh.kill()
	s.check("killed", nil, nil, c)
	again := s.open("exec", "--remote", "unix://", "resume", c, "z")
	s.check("goes on", []*codexProcess{again}, nil)
	s.shownBy("goes on", map[string]*codexProcess{a: nil, c: again})
	s.headless("goes on", a, b, c)
}

// headless wants exactly these threads to be headless.
func (s *scenery) headless(what string, want ...string) {
	s.t.Helper()
	sessions, _ := s.rows()
	for id, x := range sessions {
		if x.Headless != slices.Contains(want, id) {
			s.t.Errorf("%s: thread %s headless: %v", what, id, x.Headless)
		}
	}
}

// newThread returns the id of a thread that begins now.
func newThread(n int) string {
	ms := fmt.Sprintf("%012x", time.Now().UnixMilli())
	return fmt.Sprintf("%s-%s-7000-8000-%012x", ms[:8], ms[8:], n)
}

// An interface that hosts its thread itself locks it from its start on, before
// there is a rollout: it has no session yet. One that locks an older thread is
// about to show that one.
func TestRowOfALockedThread(t *testing.T) {
	home := home(t)
	env := []string{"CODEX_HOME=" + filepath.Join(home, ".codex")}
	fresh := startCodex(t, "codex", env, "--no-daemon").do("lock", lockPath(t, home, newThread(1)))
	older := startCodex(t, "codex", env, "resume", "--no-daemon").do("lock", lockPath(t, home, threadA))
	roll, err := atNow(home).Discover(t.Context(), adapters.Query{})
	must.Do(t, err)
	rows := map[int]bool{}
	for _, s := range roll.Sessions {
		rows[s.Process.PID] = s.IsProcess()
	}
	if !rows[fresh.cmd.Process.Pid] {
		t.Errorf("an interface before its first prompt has no row: %+v", roll.Sessions)
	}
	if rows[older.cmd.Process.Pid] {
		t.Errorf("an interface that shows an older thread has a row of its own: %+v", roll.Sessions)
	}
}

// The row of a process is answered by its id as well, and is gone with it.
func TestRowOfAProcess(t *testing.T) {
	home := home(t)
	env := []string{"CODEX_HOME=" + filepath.Join(home, ".codex")}
	a := atNow(home)
	tui := startCodex(t, "codex", env, "--no-daemon").do("read", "/dev/null")
	ephemeral := startCodex(t, "codex", env, "exec", "--ephemeral", "x").do("read", "/dev/null")
	plain := startCodex(t, "codex", env, "exec", "x").do("read", "/dev/null")
	row := func(p *codexProcess, q adapters.Query) (found adapters.Session) {
		t.Helper()
		roll, err := a.Discover(t.Context(), q)
		must.Do(t, err)
		for _, s := range roll.Sessions {
			if s.Process.PID == p.cmd.Process.Pid {
				found = s
			}
		}
		return found
	}
	for _, q := range []adapters.Query{{}, {Since: time.Now()}} {
		if s := row(ephemeral, q); s.Status != adapters.Working || !s.IsProcess() || !strings.Contains(s.Evidence, "stores nothing") {
			t.Errorf("ephemeral run: %+v", s)
		}
		if s := row(plain, q); s.ID != "" {
			t.Errorf("a run that has no rollout yet: %+v", s)
		}
	}
	open := row(tui, adapters.Query{})
	if open.Status != adapters.Idle || !open.IsProcess() {
		t.Fatalf("terminal interface: %+v", open)
	}
	if s := row(tui, adapters.Query{IDs: []string{open.ID}}); s.ID != open.ID {
		t.Errorf("asked by id: %+v", s)
	}
	if s := row(ephemeral, adapters.Query{IDs: []string{open.ID}}); s.ID != "" {
		t.Errorf("not asked for: %+v", s)
	}
	tui.do("open", write(t, rolloutPath(home, threadA), begunNow("0.142.5").text()))
	if s := row(tui, adapters.Query{}); s.ID != threadA {
		t.Errorf("with a thread: %+v", s)
	}
	if s := row(tui, adapters.Query{IDs: []string{open.ID}}); s.ID != "" {
		t.Errorf("its row beside its thread: %+v", s)
	}
	must.Do(t, os.Remove(rolloutPath(home, threadA)))
	ephemeral.kill()
	if s := row(ephemeral, adapters.Query{}); s.ID != "" {
		t.Errorf("after its end: %+v", s)
	}
}

// Of a process that is ending the system gives no command line: it is no terminal
// interface that was opened just now.
func TestNoRowOfAnEndingProcess(t *testing.T) {
	w := scene.New(t)
	scene.Codex(w).Install()
	id := w.Procs.Start(scene.Spec{Comm: "codex", Exe: "/opt/codex/codex", CWD: "/home/dev", Args: []string{"codex"}, Env: []string{"HOME=" + w.Home}})
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	for _, want := range []int{1, 0} {
		roll, err := a.Discover(t.Context(), adapters.Query{})
		if err != nil || len(roll.Sessions) != want {
			t.Errorf("%v, %v; want %d rows", roll.Sessions, err, want)
		}
		w.Procs.Replace(id.PID, scene.Spec{Comm: "codex", Exe: "/opt/codex/codex", CWD: "/home/dev"})
	}
}
