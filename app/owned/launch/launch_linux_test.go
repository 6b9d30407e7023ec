package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store/lock"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

func TestLaunchRunsAndEnds(t *testing.T) {
	for _, chooses := range []bool{true, false} {
		s := newStage(t, &fake{chooses: chooses})
		tr := s.tray()
		got := s.start(func(r *Request) { r.Group = "g-1" })
		r := got.Record
		if !s.table.Alive(r.Process) {
			t.Fatal("no process")
		}
		s.until("the session", func() bool { return s.only().Seen })
		r = s.only()
		var e entry
		data, err := os.ReadFile(filepath.Join(s.store, r.Session))
		if err != nil || json.Unmarshal(data, &e) != nil {
			t.Fatal(err)
		}
		if e.Prompt != "do it; $(x) 'y'" || e.Launch != r.ID || e.Dir != s.dir || !slices.Equal(e.Args, []string{"--model", "m-1"}) {
			t.Errorf("the agent got %+v", e)
		}
		s.until("one row", func() bool {
			list := tr.core.Snapshot().Sessions()
			return len(list) == 1 && list[0].ID == r.Session && list[0].Launch != nil && list[0].Launch.Group == "g-1" && !list[0].Launch.Unlisted
		})
		s.until("the lock of the session", func() bool {
			locks, err := s.locks.List()
			return err == nil && len(locks) == 1 && locks[0].Owner == r.Process && locks[0].Session == r.Session
		})
		if _, err := os.Stat(s.inputFile(r.ID)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the prompt file was not removed: %v", err)
		}
		tr.ends()
		s.finish(r.Session)
		s.until("the end", func() bool { x := s.only(); return x.Ended() })
		s.until("the free folder", func() bool { l, _ := s.locks.List(); return len(l) == 0 })
		if out, err := s.Output(r.ID, 100); out != "working on it\n" || err != nil {
			t.Errorf("the output is %q, %v", out, err)
		}
		n := 0
		s.until("one end reported", func() bool { n += tr.ends(); return n > 0 })
		n += tr.lastEnds(t.Context())
		if n != 1 {
			t.Errorf("%d ends reported, want 1", n)
		}
	}
}

// TestWrapperDies checks that the end of a wrapper is not the end of the launch, for several wrappers and signals.
func TestWrapperDies(t *testing.T) {
	for name, wrapper := range map[string][]string{
		"sh -c":  {"/bin/sh", "-c", `"$0" "$@"; exit $?`},
		"nohup":  {"/bin/sh", "-c", `nohup "$0" "$@" & wait`},
		"setsid": {"/bin/sh", "-c", `setsid "$0" "$@" & wait`},
	} {
		for _, sig := range []proc.Signal{proc.Terminate, proc.Kill} {
			for _, early := range []bool{false, true} {
				t.Run(name+", "+sig.String()+map[bool]string{true: ", early"}[early], func(t *testing.T) {
					t.Parallel()
					s := newStage(t, &fake{wrapper: wrapper})
					tr := s.tray()
					first := s.start(nil).Child.Identity
					if early { // before the tray has seen more than the wrapper
						s.until("the agent", func() bool { n, _ := os.ReadDir(s.store); return len(n) > 0 })
					} else {
						s.until("the session", func() bool { return s.only().Seen })
					}
					tr.ends()
					s.signal(first, sig)
					s.until("the wrapper's end", func() bool { return !s.table.Alive(first) })
					s.until("the agent's own process", func() bool { r := s.only(); return r.Seen && r.Process != first })
					tr.core.Refresh(t.Context())
					r := s.only()
					if r.Ended() || !s.table.Alive(r.Process) || tr.ends() != 0 {
						t.Fatalf("after the wrapper's end: launch ended %t, agent alive %t", r.Ended(), s.table.Alive(r.Process))
					}
					s.until("the lock of the agent", func() bool { l, _ := s.locks.List(); return len(l) == 1 && l[0].Owner == r.Process })
					s.signal(r.Process, proc.Kill)
					s.until("the end", func() bool { x := s.only(); return x.Ended() })
					s.until("the free folder", func() bool { l, _ := s.locks.List(); return len(l) == 0 })
					n := 0
					s.until("one end reported", func() bool { n += tr.ends(); return n > 0 })
					n += tr.lastEnds(t.Context())
					if n != 1 {
						t.Errorf("%d ends reported, want 1", n)
					}
				})
			}
		}
	}
}

// TestToolsLeftBehind checks that a process that an agent leaves running, such as a server, does not prolong its launch.
func TestToolsLeftBehind(t *testing.T) {
	s := newStage(t, &fake{wrapper: []string{"/bin/sh", "-c", `sleep 60 & exec "$0" "$@"`}, chooses: true})
	s.tray()
	r := s.start(nil).Record
	s.until("the session", func() bool { return s.only().Seen })
	s.signal(r.Process, proc.Kill)
	s.until("the end", func() bool { x := s.only(); return x.Ended() })
	if l, _ := s.locks.List(); len(l) != 0 {
		t.Errorf("locks %+v", l)
	}
}

// TestNothingStoredYet checks an agent that is listed by its process because it has stored no session yet: that row is
// not the session, and processes that outlive the agent are not the agent.
func TestNothingStoredYet(t *testing.T) {
	for _, ends := range []bool{true, false} {
		s := newStage(t, &fake{wrapper: []string{"/bin/sh", "-c", `"$0" "$@" & sleep 60 & wait`}})
		s.unsaved.Store(true)
		tr := s.tray()
		first := s.start(nil).Child.Identity
		s.until("the agent's own process", func() bool { r := s.only(); return r.Own && r.Process != first })
		r := s.only()
		if list := tr.list(t.Context()); len(list) != 1 || list[0].Launch == nil || list[0].Process != r.Process || r.Session != "" || r.Seen {
			t.Errorf("listed %+v, of the launch %+v", list, r)
		}
		if ends {
			s.signal(r.Process, proc.Kill)
			s.until("the end", func() bool { x := s.only(); return x.Ended() })
			continue
		}
		s.unsaved.Store(false)
		s.until("the session", func() bool { tr.core.Refresh(t.Context()); return s.only().Seen })
		if x := s.only(); x.Session != fmt.Sprintf("s-%d", r.Process.PID) || x.Process != r.Process {
			t.Errorf("%+v", x)
		}
		if list := tr.list(t.Context()); len(list) != 1 || list[0].ID != s.only().Session || list[0].Launch == nil {
			t.Errorf("listed %+v", list)
		}
	}
}

// TestProcessOfChosenSession checks that an agent with a chosen id that at first shows only its process has one row under
// that id, and that the launch gets the agent's process.
func TestProcessOfChosenSession(t *testing.T) {
	s := newStage(t, &fake{chooses: true, wrapper: []string{"/bin/sh", "-c", `"$0" "$@" & sleep 60 & wait`}})
	s.unsaved.Store(true)
	tr := s.tray()
	first := s.start(nil).Child.Identity
	s.until("the agent's own process", func() bool { r := s.only(); return r.Own && r.Process != first })
	r := s.only()
	list := tr.list(t.Context())
	if len(list) != 1 || list[0].ID != "chosen" || list[0].Process != r.Process || list[0].Launch == nil || !list[0].Launch.Open || r.Seen {
		t.Errorf("listed %+v, of the launch %+v", list, r)
	}
	s.unsaved.Store(false)
	s.until("the session", func() bool { tr.core.Refresh(t.Context()); return s.only().Seen })
	list = tr.list(t.Context())
	if len(list) != 1 || list[0].ID != "chosen" || list[0].Process != r.Process || list[0].Launch == nil || list[0].Launch.Open {
		t.Errorf("listed %+v", list)
	}
}

// TestTrayWasAway checks that the next tray records an end during which no tray ran, and runs its hook once.
func TestTrayWasAway(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	mark := filepath.Join(t.TempDir(), "hook")
	r := s.start(func(r *Request) {
		r.Hooks = []Hook{{When: OnComplete, Command: "echo \"$ROLLCALL_SESSION_ID|${ROLLCALL_EXIT_CODE-none}\" >>" + mark}}
	}).Record
	s.until("the agent", func() bool { n, _ := os.ReadDir(s.store); return len(n) > 0 })
	s.signal(r.Process, proc.Kill)
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	if x := s.only(); x.Ended() {
		t.Fatal("the end was recorded although no tray runs")
	}
	for range 2 { // the second tray has nothing to do
		tr := s.tray()
		s.until("the end", func() bool { x := s.only(); return x.Ended() && x.Hooks[0].Result != "" })
		_ = tr
	}
	if said, err := os.ReadFile(mark); string(said) != "chosen|none\n" || err != nil {
		t.Errorf("the hook said %q, %v", said, err)
	}
	if l, _ := s.locks.List(); len(l) != 0 {
		t.Errorf("locks %+v", l)
	}
}

func TestHooks(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	s.tray()
	mark := filepath.Join(t.TempDir(), "said")
	show := `echo "$ROLLCALL_SESSION_ID|$ROLLCALL_CWD|$ROLLCALL_AGENT|$ROLLCALL_GROUP|$ROLLCALL_MODEL|${ROLLCALL_EXIT_CODE-none}|$PWD" | tee -a ` + mark
	s.start(func(r *Request) {
		r.Group = "g-9"
		r.Hooks = []Hook{{When: OnCreate, Command: show}, {When: OnComplete, Command: show + "; exit 4"}}
	})
	s.until("the first hook", func() bool { return s.only().Hooks[0].Result != "" })
	s.finish("chosen")
	s.until("the second hook", func() bool { return s.only().Hooks[1].Result != "" })
	line := "chosen|" + s.dir + "|claude-code|g-9|m-1|none|" + filepath.Dir(s.Folder()) + "\n"
	if said, _ := os.ReadFile(mark); string(said) != line+line {
		t.Errorf("hooks said %q, want %q twice", said, line)
	}
	h := s.only().Hooks
	if h[0].Result != "exit 0" || h[0].Output != line || h[1].Result != "exit 4" {
		t.Errorf("%+v", h)
	}
}

func TestRefusals(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	first := s.start(nil)
	child := filepath.Join(s.dir, "sub")
	must.Do(t, os.Mkdir(child, 0o755))
	var held *lock.HeldError
	if _, err := s.Start(t.Context(), s.plan(func(r *Request) { r.Task.Dir = child }), nil); !errors.As(err, &held) || !strings.Contains(err.Error(), "session chosen") {
		t.Errorf("a locked folder: %v", err)
	}
	other := t.TempDir()
	busy := app.Session{Session: adapters.Session{
		ID: "x", Agent: agentname.Codex,
		State: adapters.State{Status: adapters.Unknown},
		Place: adapters.Place{CWD: filepath.Dir(other)},
	}}
	snap := &app.Snapshot{Own: []app.Session{busy}}
	var occupied *OccupiedError
	_, err := s.Start(t.Context(), s.plan(func(r *Request) { r.Task.Dir = other }), Occupied(snap, ""))
	if !errors.As(err, &occupied) || !strings.Contains(err.Error(), "Codex session x") {
		t.Errorf("an occupied folder: %v", err)
	}
	if err := Occupied(&app.Snapshot{LeftOut: app.LeftOut{Sessions: []app.Session{busy}}}, "")(other); !errors.As(err, &occupied) {
		t.Errorf("a folder in use by an agent that the settings leave out: %v", err)
	}
	renamed := busy
	renamed.CWD, renamed.FormerCWD = t.TempDir(), busy.CWD
	for _, path := range []string{other, renamed.CWD} { // the agent works in the one, and may write to the other
		if err := Occupied(&app.Snapshot{Own: []app.Session{renamed}}, "")(path); !errors.As(err, &occupied) {
			t.Errorf("a folder that was renamed while an agent works in it: %v", err)
		}
	}
	for name, elsewhere := range map[string]func(*adapters.Session){
		"in a container": func(x *adapters.Session) { x.Container = "4026532456" },
		"remote":         func(x *adapters.Session) { x.Remote = "gw" },
	} {
		x := busy
		elsewhere(&x.Session)
		if err := Occupied(&app.Snapshot{Own: []app.Session{x}}, "")(other); err != nil {
			t.Errorf("a session %s occupies the folder of that name here: %v", name, err)
		}
	}
	if list, _ := s.List(); len(list) != 1 {
		t.Errorf("refused ones left records: %+v", list)
	}
	if l, _ := s.locks.List(); len(l) != 1 {
		t.Errorf("refused ones left locks: %+v", l)
	}
	forced := must.Get(s.Start(t.Context(), s.plan(func(r *Request) { r.Force = true }), Occupied(snap, "")))(t)
	go func() { _, _ = forced.Child.Wait() }()
	go func() { _, _ = first.Child.Wait() }()
}

func TestPrepareRefuses(t *testing.T) {
	f := &fake{store: t.TempDir()}
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	must.Do(t, os.WriteFile(big, make([]byte, MaxFile+1), 0o600))
	nul := filepath.Join(dir, "nul")
	must.Do(t, os.WriteFile(nul, []byte("a\x00"), 0o600))
	for name, c := range map[string]struct {
		req  Request
		says string
	}{
		"no folder":   {Request{Task: adapters.Task{Dir: filepath.Join(dir, "none"), Prompt: "p"}}, "none"},
		"a file":      {Request{Task: adapters.Task{Dir: big, Prompt: "p"}}, "not a folder"},
		"no prompt":   {Request{Task: adapters.Task{Dir: dir, Prompt: " \n"}}, "needs a prompt"},
		"wrong mode":  {Request{Task: adapters.Task{Dir: dir, Prompt: "p", Mode: "yolo"}}, "one of ask, all"},
		"big file":    {Request{Task: adapters.Task{Dir: dir, Prompt: "p"}, Files: []string{big}}, "at most 51200 (50 KB) are allowed"},
		"binary file": {Request{Task: adapters.Task{Dir: dir, Prompt: "p"}, Files: []string{nul}}, "NUL"},
		"no spec":     {Request{Task: adapters.Task{Dir: dir, Prompt: "p"}, Spec: filepath.Join(dir, "none.md")}, "spec: "},
		"a folder":    {Request{Task: adapters.Task{Dir: dir, Prompt: "p"}, Files: []string{dir}}, "not a regular file"},
		"relative":    {Request{Task: adapters.Task{Dir: ".", Prompt: "p", Resume: "s"}}, "not an absolute path"},
	} {
		if _, err := Prepare(f, c.req, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}

func TestPrepareEnvironment(t *testing.T) {
	f := &fake{drop: []string{"API_KEY", "UNSET"}}
	req := Request{Task: adapters.Task{Dir: t.TempDir(), Prompt: "p"}}
	env := []string{"API_KEY=k", "HOME=/h"}
	p, err := Prepare(f, req, env)
	if err != nil || !slices.Equal(p.Dropped, []string{"API_KEY"}) || !slices.Equal(p.Env, []string{"HOME=/h"}) {
		t.Errorf("%+v, %v", p, err)
	}
	req.KeepEnv = true
	p, err = Prepare(f, req, env)
	if err != nil || p.Dropped != nil || len(p.Env) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestFailedStart checks that a start that fails leaves no record, lock or log.
func TestFailedStart(t *testing.T) {
	s := newStage(t, &fake{})
	p := s.plan(nil)
	p.Command.Path = filepath.Join(t.TempDir(), "none")
	if _, err := s.Start(t.Context(), p, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v", err)
	}
	s.nothing()
	refused := errors.New("no session")
	p = s.plan(nil)
	p.Command.Before = func(context.Context) error { return refused }
	if _, err := s.Start(t.Context(), p, nil); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	s.nothing()
	if _, _, _, err := s.Here(t.Context(), p, nil); !errors.Is(err, refused) {
		t.Errorf("in its terminal: %v", err)
	}
	s.nothing()
}

// nothing checks that there is neither record, lock nor log.
func (s *stage) nothing() {
	s.t.Helper()
	list, err := s.List()
	locks, lockErr := s.locks.List()
	names, _ := s.records.Names()
	logs, _ := os.ReadDir(s.logs)
	if err != nil || lockErr != nil || len(list)+len(locks)+len(names)+len(logs) != 0 {
		s.t.Errorf("left records %+v, locks %+v, logs %v (%v, %v)", list, locks, logs, err, lockErr)
	}
}

// TestEndsAtOnce checks that the output of an agent that ends at once is kept.
func TestEndsAtOnce(t *testing.T) {
	s := newStage(t, &fake{role: "fail"})
	s.tray()
	r := s.start(nil).Record
	s.until("the end", func() bool { x := s.only(); return x.Ended() })
	if out, err := s.Output(r.ID, 100); out != "no such model\n" || err != nil {
		t.Errorf("it said %q, %v", out, err)
	}
	s.until("the free folder", func() bool { l, _ := s.locks.List(); return len(l) == 0 })
}

// TestStartingRow checks the row of a launch whose session the agent does not list yet.
func TestStartingRow(t *testing.T) {
	s := newStage(t, &fake{role: "mute"})
	var late atomic.Int64
	s.now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	tr := s.tray()
	r := s.start(nil).Record
	s.until("its row", func() bool { return len(tr.list(t.Context())) == 1 })
	x := tr.core.Snapshot().Sessions()[0]
	if x.ID != r.ID || x.Status != adapters.Working || !strings.HasPrefix(x.Evidence, "starting: ") || x.Launch == nil || !x.Launch.Unlisted || x.FirstPrompt != r.Prompt {
		t.Errorf("%+v", x)
	}
	late.Store(int64(Grace))
	if x := tr.list(t.Context()); len(x) != 1 || x[0].Status != adapters.Unknown || !strings.Contains(x[0].Evidence, "does not list a session") {
		t.Errorf("later: %+v", x)
	}
	s.signal(r.Process, proc.Kill)
	s.until("no live row", func() bool {
		return !slices.ContainsFunc(tr.list(t.Context()), func(x app.Session) bool { return x.Live() })
	})
}

// TestRecordsExpire checks that a sweep removes a record 24 hours after the end.
func TestRecordsExpire(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	s.start(nil)
	s.until("the agent", func() bool { n, _ := os.ReadDir(s.store); return len(n) > 0 })
	s.finish("chosen")
	s.until("its end", func() bool { r := s.only(); return !s.table.Alive(r.Process) })
	if _, err := s.Sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	ended := s.only().EndedAt
	for after, kept := range map[time.Duration]bool{0: true, Keep - time.Second: true} {
		s.now = func() time.Time { return ended.Add(after) }
		if _, err := s.Sweep(t.Context(), nil); err != nil || !kept {
			t.Fatal(err)
		}
		s.only()
	}
	s.now = func() time.Time { return ended.Add(Keep) }
	swept, err := s.Sweep(t.Context(), nil)
	if err != nil || len(swept.Removed) != 1 {
		t.Errorf("%+v, %v", swept, err)
	}
	s.nothing()
}

// TestKeeperRemoves checks that the keeper's timer removes a record without any event.
func TestKeeperRemoves(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	r := Record{ID: "l-1", Agent: agentname.ClaudeCode, Dir: s.dir, Starter: proc.Self(), Process: proc.Identity{PID: 1 << 22, Start: 1},
		LaunchedAt: time.Now().Add(-2 * Keep), EndedAt: time.Now().Add(-Keep + time.Second)}
	must.Do(t, s.records.Write(r.ID, r))
	s.tray()
	s.until("its removal", func() bool { n, _ := s.records.Names(); return len(n) == 0 })
	if early := time.Until(r.EndedAt.Add(Keep)); early > 0 {
		t.Errorf("the record was removed %s too early", early)
	}
}

// TestHooksOfOneEndedElsewhere checks that the tray runs the hooks of a launch that another process ended, once.
func TestHooksOfOneEndedElsewhere(t *testing.T) {
	s := newStage(t, &fake{role: "fail"})
	mark := filepath.Join(t.TempDir(), "said")
	r := s.start(func(r *Request) { r.Hooks = []Hook{{When: OnComplete, Command: "echo done >>" + mark}} }).Record
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	code := 3
	if _, _, err := s.End(t.Context(), r.ID, &code, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.tray()
		s.until("the hook", func() bool { return s.only().Hooks[0].Result != "" })
	}
	if said, err := os.ReadFile(mark); string(said) != "done\n" || err != nil {
		t.Errorf("the hook said %q, %v", said, err)
	}
}
