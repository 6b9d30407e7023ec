package harness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	wrapperProgram  = "/opt/wrapper/nohup"  // what agents are started through
	strangerProgram = "/opt/stranger/build" // what gets the pids of agents
	// editorProgram starts agents without a terminal, through an adapter of Node.js. Codex is in its adapter itself.
	editorProgram = "/opt/zed/zed-editor"
	acpProgram    = "/opt/acp/codex-acp"
)

// machine runs the agents' processes: each is a process that does nothing but what
// it is told, and looks as the agent's own does.
type machine struct {
	t        testing.TB
	home     string
	table    *proc.Table
	hellos   *os.File
	arrivals chan *played // processes that nobody here started
	note     func(format string, args ...any)

	// What the next process is like.
	wrapped bool    // started by a wrapper
	hosted  bool    // started by an editor
	reuse   int     // its pid; 0: any
	adopted *played // not started at all: it runs already

	mu        sync.Mutex
	expected  map[int]chan *played
	running   map[int]*played
	wrappers  map[int]*played // by the pid of what they started
	editors   map[int]bool    // whether the wrapper is an editor, by the pid of what it started
	recorded  map[int]string  // what an agent records of its host itself, by its pid
	fates     map[proc.Identity]string
	strangers []*played
}

// played is a process.
type played struct {
	proc.Identity
	in     *os.File
	out    *os.File
	orders *json.Encoder
	answer *json.Decoder
	dir    string
	launch string
}

func newMachine(t testing.TB, home string) *machine {
	t.Helper()
	m := &machine{t: t, home: home, table: proc.Open(), arrivals: make(chan *played, 10), note: func(string, ...any) {},
		expected: map[int]chan *played{}, running: map[int]*played{}, wrappers: map[int]*played{}, editors: map[int]bool{}, recorded: map[int]string{}, fates: map[proc.Identity]string{}}
	must.Do(t, os.Mkdir(m.pipe(""), 0o700))
	m.hellos = m.fifo(m.pipe("hello"))
	t.Cleanup(func() { m.hellos.Close() })
	go func() {
		hellos := json.NewDecoder(m.hellos)
		for {
			var h hello
			if err := hellos.Decode(&h); err != nil {
				return
			}
			go m.meet(h)
		}
	}()
	return m
}

func (m *machine) pipe(name string) string { return filepath.Join(m.home, "pipes", name) }

// fifo makes a named pipe, and opens it for both: for writing too, without a writer its reader would see its end.
func (m *machine) fifo(path string) *os.File {
	m.t.Helper()
	must.Do(m.t, unix.Mkfifo(path, 0o600))
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(m.t)
	return f
}

// hello is what a process says of itself: see command agent.
type hello struct {
	PID         int
	Dir, Launch string
}

// meet opens the pipes of who has come.
func (m *machine) meet(h hello) {
	process, err := m.table.Find(h.PID)
	if err != nil {
		return
	}
	p := &played{Identity: process.Identity, dir: h.Dir, launch: h.Launch}
	// Opened for both, so that a process that is killed meanwhile holds up nothing.
	in, inErr := os.OpenFile(m.pipe(strconv.Itoa(h.PID)+".in"), os.O_RDWR, 0)
	out, outErr := os.OpenFile(m.pipe(strconv.Itoa(h.PID)+".out"), os.O_RDWR, 0)
	if inErr != nil || outErr != nil {
		return
	}
	p.in = in
	p.out = out
	p.orders = json.NewEncoder(in)
	p.answer = json.NewDecoder(out)
	m.mu.Lock()
	waiting := m.expected[p.PID]
	delete(m.expected, p.PID)
	m.running[p.PID] = p
	m.mu.Unlock()
	if waiting == nil {
		waiting = m.arrivals
	}
	waiting <- p
}

// order has a process do something.
func (m *machine) order(p *played, what map[string]any) {
	m.t.Helper()
	_ = p.out.SetDeadline(time.Now().Add(time.Minute))
	var done string
	if err := p.orders.Encode(what); err != nil {
		m.t.Fatalf("process %d: %v: %v", p.PID, what, err)
	}
	if err := p.answer.Decode(&done); err != nil {
		m.t.Fatalf("process %d: %v: %v", p.PID, what, err)
	}
}

// Start implements scene.Runner.
func (m *machine) Start(s scene.Spec) proc.Identity {
	m.t.Helper()
	var p *played
	switch {
	case m.adopted != nil:
		p, m.adopted = m.adopted, nil
	case m.wrapped:
		m.wrapped = false
		p = m.startWrapped(s)
	case m.hosted:
		m.hosted = false
		p = m.startHosted(&s)
	case m.reuse != 0:
		p = m.startAs(m.reuse, s)
		m.reuse = 0
	default:
		p = m.start(s)
	}
	if s.Comm != filepath.Base(s.Exe) {
		m.order(p, map[string]any{"Comm": s.Comm})
	}
	return p.Identity
}

func (m *machine) start(s scene.Spec) *played {
	m.t.Helper()
	must.Do(m.t, os.MkdirAll(s.CWD, 0o755))
	cmd := &exec.Cmd{Path: s.Exe, Args: s.Args, Dir: s.CWD, Env: s.Env, Stderr: os.Stderr, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	met := make(chan *played, 1)
	m.mu.Lock() // nobody is met before the pid is known
	err := cmd.Start()
	if err == nil {
		m.expected[cmd.Process.Pid] = met
	}
	m.mu.Unlock()
	must.Do(m.t, err)
	p := m.await(met)
	go func() { m.ended(p, cmd.Wait()) }()
	return p
}

// ended keeps how a process ended that was not killed here.
func (m *machine) ended(p *played, how error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[p.PID] == p {
		m.fates[p.Identity] = fmt.Sprint(how)
	}
}

// fate returns how a process ended that the script lets live; empty: it lives. What a
// wrapper started says itself that it ends, unless a signal ended it.
func (m *machine) fate(id proc.Identity) string {
	if m.table.Alive(id) {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("\n   process %d has ended, and the script did not end it: %s", id.PID, cmp.Or(m.fates[id], "how is not known"))
}

func (m *machine) await(met <-chan *played) *played {
	m.t.Helper()
	select {
	case p := <-met:
		return p
	case <-time.After(time.Minute):
		m.t.Fatal("a process does not begin")
		return nil
	}
}

// startWrapped starts a wrapper, and through it the process.
func (m *machine) startWrapped(s scene.Spec) *played {
	m.t.Helper()
	w := m.start(scene.Spec{Exe: wrapperProgram, Args: append([]string{"nohup"}, s.Args...), CWD: s.CWD, Env: s.Env})
	m.order(w, map[string]any{"Path": s.Exe, "Run": s.Args})
	p := m.await(m.arrivals)
	m.note("wrapper %d has started process %d", w.PID, p.PID)
	m.mu.Lock()
	m.wrappers[p.PID], m.editors[p.PID] = w, false
	m.mu.Unlock()
	return p
}

// startHosted starts an editor, through it an adapter of Node.js, and through that the process.
func (m *machine) startHosted(s *scene.Spec) *played {
	m.t.Helper()
	editor := m.start(scene.Spec{Exe: editorProgram, Args: []string{"zed-editor"}, CWD: s.CWD, Env: s.Env})
	from := editor
	if s.Exe == scene.CodexProgram {
		s.Comm = "codex-acp"
		s.Exe = acpProgram
		s.Args = []string{"codex-acp"}
	} else {
		m.order(editor, map[string]any{"Path": scene.NodeProgram, "Run": []string{"node", "/opt/adapter.js"}})
		from = m.await(m.arrivals)
	}
	m.order(from, map[string]any{"Path": s.Exe, "Run": s.Args})
	p := m.await(m.arrivals)
	m.note("editor %d has started process %d", editor.PID, p.PID)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrappers[p.PID], m.editors[p.PID] = editor, true
	if from != editor {
		m.wrappers[editor.PID] = from // ends with the editor
	}
	return p
}

// hosts notes that an editor runs a process, which is an agent itself, and what that records of its host: it is all that is known without the editor.
func (m *machine) hosts(editor *played, pid int, recorded string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrappers[pid] = editor
	m.editors[pid] = true
	m.recorded[pid] = recorded
}

// records notes what an agent, or its editor, shows of the host of a process that nobody here wraps.
func (m *machine) records(pid int, host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorded[pid] = host
}

// host returns the program in which a process runs; empty: it is none that Rollcall names.
func (m *machine) host(pid int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.editors[pid] && m.wrappers[pid] != nil {
		return "Zed"
	}
	return m.recorded[pid]
}

// startAs starts a process under a pid that is free.
func (m *machine) startAs(pid int, s scene.Spec) *played {
	m.t.Helper()
	for range 1000 {
		must.Do(m.t, os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0))
		p := m.start(s)
		if p.PID == pid {
			return p
		}
		m.End(p.PID)
	}
	m.t.Fatalf("pid %d was never given", pid)
	return nil
}

// Open implements scene.Runner.
func (m *machine) Open(pid int, path string) {
	m.t.Helper()
	m.order(m.process(pid), map[string]any{"Open": path})
}

// Connect implements scene.Runner.
func (m *machine) Connect(pid int) {
	m.t.Helper()
	m.order(m.process(pid), map[string]any{"Connect": true})
}

// Append implements scene.Runner.
func (m *machine) Append(pid int, path, line string) {
	m.t.Helper()
	m.order(m.process(pid), map[string]any{"Append": path, "Text": line + "\n"})
}

// Write implements scene.Runner.
func (m *machine) Write(pid int, path, text string) {
	m.t.Helper()
	m.order(m.process(pid), map[string]any{"Write": path, "Text": text})
}

func (m *machine) process(pid int) *played {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.running[pid]
	if p == nil {
		m.t.Fatalf("no process %d", pid)
	}
	return p
}

// End implements scene.Runner: it kills a process, and returns when it is gone.
func (m *machine) End(pid int) {
	m.t.Helper()
	m.mu.Lock()
	p, w := m.running[pid], m.wrappers[pid]
	delete(m.running, pid)
	delete(m.wrappers, pid)
	m.mu.Unlock()
	if p == nil {
		return
	}
	m.kill(p)
	if w != nil {
		m.End(w.PID)
	}
}

func (m *machine) kill(p *played) {
	m.t.Helper()
	alive := m.table.Alive(p.Identity)
	m.note("process %d is killed; it was alive: %v", p.PID, alive)
	if alive {
		_ = unix.Kill(p.PID, unix.SIGKILL)
	}
	p.in.Close()
	p.out.Close()
	eventually.True(m.t, "the end of a process", func() bool { return !m.table.Alive(p.Identity) })
}

// unwrap kills the wrapper of a process, if it has one.
func (m *machine) unwrap(pid int) bool {
	m.t.Helper()
	m.mu.Lock()
	w := m.wrappers[pid]
	delete(m.wrappers, pid)
	m.mu.Unlock()
	if w == nil {
		return false
	}
	m.End(w.PID)
	return true
}

// stranger gives the pid of a process that has ended to one that is no agent.
func (m *machine) stranger(pid int) {
	m.t.Helper()
	p := m.startAs(pid, scene.Spec{Exe: strangerProgram, Args: []string{"build", "--all"}, CWD: m.home, Env: []string{"HOME=" + m.home}})
	m.strangers = append(m.strangers, p)
	if len(m.strangers) > 4 {
		m.End(m.strangers[0].PID)
		m.strangers = m.strangers[1:]
	}
}

// child has a process start a command that runs for a moment, again and again, with variables of its own.
func (m *machine) child(pid int, env ...string) proc.Identity {
	m.t.Helper()
	before := m.childrenOf(pid)
	m.order(m.process(pid), map[string]any{"Path": strangerProgram, "Run": []string{"build", "--all"}, "Env": append(env, ticks+"=1")})
	for _, id := range m.childrenOf(pid) {
		if !slices.Contains(before, id) {
			return id
		}
	}
	m.t.Fatalf("process %d has no child", pid)
	return proc.Identity{}
}

// ticks is the variable of command agent with which it is a command.
const ticks = "ROLLCALL_HARNESS_TICKS"

func (m *machine) childrenOf(pid int) (list []proc.Identity) {
	all, err := m.table.List(m.t.Context())
	must.Do(m.t, err)
	for _, p := range all {
		if p.PPID == pid {
			list = append(list, p.Identity)
		}
	}
	return list
}

// lives reports whether a command runs.
func (m *machine) lives(id proc.Identity) bool { return id.PID != 0 && m.table.Alive(id) }

// endChild kills a command.
func (m *machine) endChild(id proc.Identity) {
	m.t.Helper()
	if m.lives(id) {
		must.Do(m.t, unix.Kill(id.PID, unix.SIGKILL))
		eventually.True(m.t, "the end of a command", func() bool { return !m.lives(id) })
	}
}

// Suspend implements scene.Runner.
func (m *machine) Suspend(pid int) { m.signal(pid, unix.SIGSTOP, true) }

// Continue implements scene.Runner.
func (m *machine) Continue(pid int) { m.signal(pid, unix.SIGCONT, false) }

func (m *machine) signal(pid int, signal unix.Signal, suspended bool) {
	m.t.Helper()
	before := must.Get(m.table.Find(pid))(m.t)
	must.Do(m.t, unix.Kill(pid, signal))
	eventually.True(m.t, "the signal's effect", func() bool {
		p, err := m.table.Find(pid)
		return err == nil && p.Identity == before.Identity && p.Suspended == suspended
	})
}
