package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/app"
	"rollcall/app/store/lock"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

const roleVariable = "ROLLCALL_LAUNCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

// play runs the tests' agent, this binary re-executed, or another role of a test. The agent writes its session into its
// storage, a folder with a file per session, and runs until a file or a signal ends it.
func play(role string) int {
	store := os.Getenv("FAKE_STORE")
	switch role {
	case "agent":
		prompt, _ := io.ReadAll(os.Stdin)
		e := entry{ID: os.Getenv("FAKE_ID"), Prompt: string(prompt), Launch: os.Getenv(Variable), Dir: cwd(), Args: os.Args[1:]}
		if e.ID == "" {
			e.ID = fmt.Sprintf("s-%d", os.Getpid())
		}
		if p, err := proc.OpenAt("/proc", "/etc").Find(os.Getpid()); err == nil {
			e.Process = p.Identity
		}
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT) // before the session is listed: a test may then stop it
		data, _ := json.Marshal(e)
		file := filepath.Join(store, e.ID)
		if os.WriteFile(file+".tmp", data, 0o600) != nil || os.Rename(file+".tmp", file) != nil {
			return 1
		}
		fmt.Println("working on it")
		for {
			select {
			case <-signals:
				return 7
			case <-time.After(5 * time.Millisecond):
				if _, err := os.Stat(file + ".end"); err == nil {
					return 0
				}
			}
		}
	case "short": // writes nothing, and ends soon
		time.Sleep(10 * time.Millisecond)
	case "mute": // runs and writes nothing
		time.Sleep(time.Hour)
	case "fail":
		fmt.Println("no such model")
		return 3
	case "starter": // launches, and is killed or ends
		return starter()
	case "stopper":
		return stopper()
	case "locker":
		return locker()
	case "keeper":
		return keeper()
	}
	return 0
}

func cwd() string {
	dir, _ := os.Getwd()
	return dir
}

type entry struct {
	ID, Prompt, Launch, Dir string
	Args                    []string
	Process                 proc.Identity
	Started                 time.Time
}

// fake is the adapter of the tests' agent.
type fake struct {
	store   string
	table   *proc.Table
	wrapper []string // program and arguments before the agent's own
	role    string
	chooses bool // the id can be chosen
	drop    []string
	unsaved atomic.Bool  // the process runs, and has stored no session yet
	noWatch atomic.Bool  // no folder is watched
	blind   atomic.Bool  // new sessions are not listed
	old     atomic.Bool  // the last activity of each session was two days ago
	fail    atomic.Value // the error to answer with
	known   sync.Map     // sessions that were seen
}

func (f *fake) Name() adapters.Name { return agentname.ClaudeCode }

func (f *fake) WatchPaths() []string {
	if f.noWatch.Load() {
		return nil
	}
	return []string{f.store}
}

func (f *fake) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	if err, ok := f.fail.Load().(error); ok {
		return adapters.Roll{}, err
	}
	roll := adapters.Roll{LookedIn: []string{f.store}}
	names, err := os.ReadDir(f.store)
	for _, n := range names {
		if strings.Contains(n.Name(), ".") || q.IDs != nil && !slices.Contains(q.IDs, n.Name()) {
			continue
		}
		if _, known := f.known.Load(n.Name()); f.blind.Load() && !known {
			continue
		}
		f.known.Store(n.Name(), true)
		var e entry
		data, readErr := os.ReadFile(filepath.Join(f.store, n.Name()))
		if readErr != nil || json.Unmarshal(data, &e) != nil {
			continue
		}
		s := adapters.Session{
			ID: e.ID, Agent: f.Name(), Files: []string{filepath.Join(f.store, n.Name())},
			State: adapters.State{Status: adapters.Working, Evidence: "its file"},
			Owner: adapters.Owner{Process: e.Process},
			Place: adapters.Place{CWD: e.Dir},
			Topic: adapters.Topic{FirstPrompt: e.Prompt},
			Times: adapters.Times{LastActivityAt: time.Now(), StartedAt: e.Started},
		}
		if f.old.Load() {
			s.LastActivityAt = time.Now().Add(-48 * time.Hour)
		}
		if !f.table.Alive(e.Process) && q.IDs == nil && s.LastActivityAt.Before(q.Since) {
			continue
		}
		if !f.table.Alive(e.Process) {
			s.Status = adapters.Stopped
			s.Outcome = adapters.Completed
			s.Process = proc.Identity{}
		} else if f.unsaved.Load() {
			s.ID = fmt.Sprintf("process-%d", e.Process.PID)
			s.Status = adapters.Unknown
			s.Files = nil
		}
		roll.Sessions = append(roll.Sessions, s)
	}
	return roll, err
}

func (f *fake) Program(func(string) (string, error)) (string, error) { return os.Args[0], nil }

func (f *fake) Modes() []adapters.Mode {
	return []adapters.Mode{{Name: "ask", Says: "asks"}, {Name: "all", Says: "does everything", Unsafe: true}}
}

func (f *fake) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Args: []string{"--model", t.Model}, Stdin: t.Prompt, Drop: f.drop, WhyDrop: "costs money"}
	if f.chooses {
		c.Session = "chosen"
	}
	if len(f.wrapper) > 0 {
		c.Path, c.Args = f.wrapper[0], append(slices.Clone(f.wrapper[1:]), append([]string{program}, c.Args...)...)
	}
	return c, nil
}

func (f *fake) env() []string {
	role := f.role
	if role == "" {
		role = "agent"
	}
	env := append(os.Environ(), roleVariable+"="+role, "FAKE_STORE="+f.store, "GORACE=atexit_sleep_ms=0")
	if f.chooses {
		env = append(env, "FAKE_ID=chosen")
	}
	return env
}

// stage is a state folder, an agent and a folder to work in.
type stage struct {
	t     *testing.T
	state string
	dir   string
	*fake
	*Launches
	table *proc.Table
}

func newStage(t *testing.T, f *fake) *stage {
	t.Helper()
	table := proc.OpenAt("/proc", "/etc")
	f.table, f.store = table, t.TempDir()
	s := &stage{t: t, state: filepath.Join(t.TempDir(), "state"), dir: t.TempDir(), fake: f, table: table}
	s.Launches = In(s.state, table)
	t.Cleanup(s.killAll)
	return s
}

// killAll ends what the test started and nothing else.
func (s *stage) killAll() {
	list, err := s.table.List(context.Background())
	if err != nil {
		s.t.Error(err)
	}
	for _, p := range list {
		env, err := s.table.Env(p.Identity)
		if err == nil && slices.Contains(env, "FAKE_STORE="+s.store) {
			if h, err := s.table.Hold(p.Identity); err == nil {
				_ = h.Send(proc.Kill)
				h.Close()
			}
		}
	}
}

func (s *stage) plan(change func(*Request)) *Plan {
	s.t.Helper()
	req := Request{Task: adapters.Task{Dir: s.dir, Prompt: "do it; $(x) 'y'", Model: "m-1"}}
	if change != nil {
		change(&req)
	}
	p := must.Get(Prepare(s.fake, req, s.env()))(s.t)
	return p
}

func (s *stage) start(change func(*Request)) *Started {
	s.t.Helper()
	got := must.Get(s.Start(s.t.Context(), s.plan(change), nil))(s.t)
	for _, w := range got.Warnings {
		s.t.Error(w)
	}
	if got.Child != nil {
		go func() { _, _ = got.Child.Wait() }()
	}
	return got
}

// finish makes the agent of a session end by itself.
func (s *stage) finish(session string) {
	s.t.Helper()
	must.Do(s.t, os.WriteFile(filepath.Join(s.store, session+".end"), nil, 0o600))
}

func (s *stage) signal(id proc.Identity, sig proc.Signal) {
	s.t.Helper()
	h := must.Get(s.table.Hold(id))(s.t)
	defer h.Close()
	must.Do(s.t, h.Send(sig))
}

func (s *stage) until(what string, ok func() bool) {
	s.t.Helper()
	if !eventually.Happens(ok) {
		list, _ := s.List()
		locks, _ := s.locks.List()
		s.t.Fatalf("waited %v for %s; records %+v, locks %+v", eventually.Limit, what, list, locks)
	}
}

// only returns the only record.
func (s *stage) only() Record {
	s.t.Helper()
	list, err := s.List()
	if err != nil || len(list) != 1 {
		s.t.Fatalf("records %+v, %v", list, err)
	}
	return list[0]
}

// tray runs a core with its keeper, as the tray does.
type tray struct {
	core     *app.Core
	events   *app.Events
	reported chan app.Event
	reading  chan struct{} // closed when all events were read
}

// lastEnds counts the ends that were reported since the last count, and of those that a further refresh reports. It stops
// reporting.
func (tr *tray) lastEnds(ctx context.Context) int {
	tr.core.Refresh(ctx)
	tr.events.Close()
	<-tr.reading
	return tr.ends()
}

func (s *stage) tray() *tray {
	s.t.Helper()
	w := must.Get(proc.NewWatcher(s.table))(s.t)
	c := app.New(app.Config{Adapters: []adapters.Adapter{s.fake}, Table: s.table, Watch: w, Launches: s.Launches})
	k := NewKeeper(s.Launches, c, w, slog.New(slog.NewTextHandler(s.t.Output(), nil)))
	tr := &tray{core: c, events: c.Events(), reported: make(chan app.Event, 100_000), reading: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- c.Run(ctx) }()
	go func() { done <- k.Run(ctx) }()
	go func() {
		defer close(tr.reading)
		for {
			e, err := tr.events.Next(context.Background())
			if err != nil {
				return
			}
			tr.reported <- e
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, <-done, w.Close()); err != nil {
			s.t.Error(err)
		}
		tr.events.Close()
		<-tr.reading
	})
	return tr
}

// list returns the sessions of an answer that begins after the call. Refresh may wait for an answer that is older.
func (tr *tray) list(ctx context.Context) []app.Session {
	return tr.core.RefreshOne(ctx, agentname.ClaudeCode).Sessions()
}

// ends counts the ends that were reported so far.
func (tr *tray) ends() int {
	n := 0
	for {
		select {
		case e := <-tr.reported:
			if e.Kind == app.Ended {
				n++
			}
		default:
			return n
		}
	}
}

// starter launches the agent and prints the result, as a process of its own.
func starter() int {
	table := proc.OpenAt("/proc", "/etc")
	f := &fake{store: os.Getenv("FAKE_STORE"), table: table}
	l := In(os.Getenv("FAKE_STATE"), table)
	plan, err := Prepare(f, Request{Task: adapters.Task{Dir: os.Getenv("FAKE_DIR"), Prompt: "p"}}, f.env())
	if err == nil {
		_, err = l.Start(context.Background(), plan, nil)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	return 0
}

// stopper stops the only session, as a process of its own.
func stopper() int {
	table := proc.OpenAt("/proc", "/etc")
	f := &fake{store: os.Getenv("FAKE_STORE"), table: table}
	core := app.New(app.Config{Adapters: []adapters.Adapter{f}, Table: table, Launches: In(os.Getenv("FAKE_STATE"), table)})
	list := core.Refresh(context.Background()).Sessions()
	if len(list) != 1 {
		fmt.Println(len(list), "sessions")
		return 1
	}
	plan, err := core.PlanStop(context.Background(), list[0])
	if err == nil {
		_, err = core.Stop(context.Background(), plan, nil)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("stopped")
	return 0
}

// locker locks a folder by hand and unlocks it, as a process of its own.
func locker() int {
	locks := In(os.Getenv("FAKE_STATE"), proc.OpenAt("/proc", "/etc")).Locks()
	dir := os.Getenv("FAKE_DIR")
	_, err := locks.Take(context.Background(), lock.Lock{Path: dir, Kind: lock.Manual, By: "ann"}, false, nil)
	if err == nil {
		err = locks.Unlock(context.Background(), dir)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("locked and unlocked")
	return 0
}

func (s *stage) startElsewhere(env ...string) (said string, err error) {
	return s.inRole("starter", env...)
}

// inRole plays a role over the stage, in a process of its own.
func (s *stage) inRole(role string, env ...string) (said string, err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append([]string{roleVariable + "=" + role, "FAKE_STORE=" + s.store, "FAKE_STATE=" + s.state, "FAKE_DIR=" + s.dir, "GORACE=atexit_sleep_ms=0"}, env...)...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
