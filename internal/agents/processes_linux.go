package agents

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// Process is a process of a sandbox, read without any help of Rollcall's.
type Process struct {
	PID, PPID int
	Comm      string
	State     string
	Args      []string
}

func (p Process) String() string {
	return fmt.Sprintf("%d (parent %d) %s %s %.200q", p.PID, p.PPID, p.Comm, p.State, strings.Join(p.Args, " "))
}

func (p Process) kill() { _ = unix.Kill(p.PID, unix.SIGKILL) } // gone is as good

// Processes returns the sandbox's processes, zombies left out. All of them have
// the sandbox in their environment; no process outside of the namespaces is
// visible.
func (s *Sandbox) Processes() []Process {
	folders := must.Get(filepath.Glob("/proc/[0-9]*"))(s.t)
	var out []Process
	for _, folder := range folders {
		environment, err := os.ReadFile(folder + "/environ")
		if err != nil || !bytes.Contains(environment, []byte("ROLLCALL_SANDBOX="+s.dir+"\x00")) {
			continue
		}
		if p, ok := readProcess(folder); ok {
			out = append(out, p)
		}
	}
	return out
}

func readProcess(folder string) (Process, bool) {
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return Process{}, false
	}
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return Process{}, false
	}
	p := Process{Comm: string(stat[open+1 : end]), State: fields[0]}
	p.PID, _ = strconv.Atoi(filepath.Base(folder))
	p.PPID, _ = strconv.Atoi(fields[1])
	line, _ := os.ReadFile(folder + "/cmdline")
	p.Args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	return p, true
}

// Agent waits for the process of that name (claude, codex) whose arguments hold
// every one of the given strings, and returns it.
func (s *Sandbox) Agent(comm string, arguments ...string) Process {
	s.t.Helper()
	var found []Process
	err := poll(30*time.Second, func() bool {
		found = nil
		for _, p := range s.Processes() {
			if p.Comm == comm && containsAll(strings.Join(p.Args, " "), arguments) {
				found = append(found, p)
			}
		}
		return len(found) == 1
	})
	if err != nil {
		s.t.Fatalf("process %s %q: %v: %v", comm, arguments, err, found)
	}
	return found[0]
}

// Descendant waits for the process of that name at or below pid, the topmost
// one: a program that starts another has a child of its own name for a moment.
func (s *Sandbox) Descendant(pid int, comm string) Process {
	s.t.Helper()
	return s.lasts(fmt.Sprintf("%s below %d", comm, pid), func(p, found Process, all []Process) bool {
		return p.Comm == comm && below(all, p.PID, pid) && (found.PID == 0 || below(all, found.PID, p.PID))
	})
}

// Innermost waits for the process at or below pid whose command line has the argument, or a part of it, the one furthest down: an agent may
// start itself again.
func (s *Sandbox) Innermost(pid int, argument string) Process {
	s.t.Helper()
	return s.lasts(fmt.Sprintf("%q below %d", argument, pid), func(p, found Process, all []Process) bool {
		return strings.Contains(strings.Join(p.Args, " "), argument) && below(all, p.PID, pid) && (found.PID == 0 || below(all, p.PID, found.PID))
	})
}

// lasts waits for the process that is better than every other one of all. It must be that for a while: a script that starts the program has
// the program's name too.
func (s *Sandbox) lasts(what string, better func(p, found Process, all []Process) bool) (found Process) {
	s.t.Helper()
	since := time.Now()
	err := poll(30*time.Second, func() bool {
		last := found.PID
		found = Process{}
		all := s.Processes()
		for _, p := range all {
			if better(p, found, all) {
				found = p
			}
		}
		if found.PID != last {
			since = time.Now()
		}
		return found.PID != 0 && time.Since(since) > lasting
	})
	if err != nil {
		s.t.Fatalf("process %s: %v", what, err)
	}
	return found
}

// lasting is for how long a process must be what it is to count as that.
const lasting = 300 * time.Millisecond

// below reports whether pid is top or one of its descendants.
func below(all []Process, pid, top int) bool {
	for range len(all) + 1 {
		if pid == top {
			return true
		}
		parent := 0
		for _, p := range all {
			if p.PID == pid {
				parent = p.PPID
			}
		}
		if parent == 0 {
			return false
		}
		pid = parent
	}
	return false
}

// Signal sends a signal to one process of the sandbox.
func (s *Sandbox) Signal(p Process, signal unix.Signal) {
	s.t.Helper()
	if err := unix.Kill(p.PID, signal); err != nil {
		s.t.Fatalf("signal %v to %v: %v", signal, p, err)
	}
}

// Gone waits until the process is no more.
func (s *Sandbox) Gone(p Process) {
	s.t.Helper()
	if err := poll(20*time.Second, func() bool { return !p.isAlive() }); err != nil {
		s.t.Fatalf("%v: %v", p, err)
	}
}

// Kill kills a process of the sandbox, and waits until it is no more.
func (s *Sandbox) Kill(p Process) {
	s.t.Helper()
	s.Signal(p, unix.SIGKILL)
	s.Gone(p)
}

func (p Process) isAlive() bool {
	_, alive := readProcess("/proc/" + strconv.Itoa(p.PID))
	return alive
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// uuid returns a new random id.
func uuid(t *testing.T) string {
	t.Helper()
	id := must.Get(os.ReadFile("/proc/sys/kernel/random/uuid"))(t)
	return strings.TrimSpace(string(id))
}
