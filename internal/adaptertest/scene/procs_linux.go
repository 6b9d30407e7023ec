package scene

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	machine = "5d0b3c3a2f6c4c7d8e9f0a1b2c3d4e5f"
	pidns   = "pid:[4026531836]"
	bootID  = "0c1d2e3f-1111-2222-3333-444455556666"
	tick    = 10 * time.Millisecond
)

// Spec is a process to be started.
type Spec struct {
	Comm    string
	Exe     string
	CWD     string
	Args    []string
	Env     []string
	Files   []string  // held open
	PPID    int       // 0: init
	PTS     int       // the number of its terminal, /dev/pts/PTS; 0: it has none
	Started time.Time // zero: now
	In      int       // the pid of a process that is this one as well, since it hosts several sessions; 0: a new process
}

// Procs is a process table that the test writes: a /proc tree. A process
// appears in it and goes as a whole, as in the kernel's. It is safe for
// concurrent use.
type Procs struct {
	t    testing.TB
	dir  string
	boot time.Time

	mu    sync.Mutex
	next  int
	made  int
	locks map[string]int // path of a locked file -> pid
	fds   map[int]int    // pid -> number of the next descriptor
	specs map[int]Spec
	run   Runner // real processes in place of the tree; nil: the tree
	// Installed changes a process of an agent as another way of installing or starting it would; nil: none is changed.
	Installed func(Spec) Spec
}

// Runner runs real processes for an Environment: see On. A pid is one of the processes
// that it started.
type Runner interface {
	Start(s Spec) proc.Identity
	Open(pid int, path string)
	Connect(pid int) // as to a model, from here on
	End(pid int)
	Suspend(pid int)
	Continue(pid int)
	// Append has a process add a line to a file; Write has it write a whole one.
	// What a process has written is counted by the system.
	Append(pid int, path, line string)
	Write(pid int, path, text string)
}

func newProcs(t testing.TB, dir string) *Procs {
	p := &Procs{t: t, dir: dir, boot: time.Now().Add(-100 * time.Hour).Truncate(time.Second),
		next: 4000, locks: map[string]int{}, fds: map[int]int{}, specs: map[int]Spec{}}
	p.write("proc/stat", fmt.Sprintf("cpu  0 0 0 0\nbtime %d\n", p.boot.Unix()))
	p.write("proc/sys/kernel/random/boot_id", bootID+"\n")
	p.write("proc/locks", "")
	p.write("proc/self/status", "")
	p.link("proc/self/ns/pid", pidns)
	p.write("etc/machine-id", machine+"\n")
	p.Start(Spec{Comm: "init", Exe: "/sbin/init", CWD: "/", Args: []string{"init"}, Started: p.boot})
	return p
}

// Root is the folder that stands for /proc.
func (p *Procs) Root() string { return filepath.Join(p.dir, "proc") }

// Etc is the folder that stands for /etc.
func (p *Procs) Etc() string { return filepath.Join(p.dir, "etc") }

// Start starts a process under a new pid.
func (p *Procs) Start(s Spec) proc.Identity {
	p.t.Helper()
	if p.run != nil {
		return p.run.Start(s)
	}
	if p.Installed != nil {
		s = p.Installed(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.In != 0 {
		return proc.Identity{PID: s.In, Start: uint64(p.specs[s.In].Started.Sub(p.boot) / tick), Boot: bootID}
	}
	p.next++
	return p.start(p.next, s)
}

// Replace gives the pid of a process to another one, started just now.
func (p *Procs) Replace(pid int, s Spec) proc.Identity {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	after := p.specs[pid].Started.Add(tick) // what is in the same tick is the same
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	if s.Started.Before(after) {
		s.Started = after
	}
	p.remove(pid)
	return p.start(pid, s)
}

func (p *Procs) start(pid int, s Spec) proc.Identity {
	p.t.Helper()
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	env := s.Env
	if !slices.ContainsFunc(env, func(set string) bool { return strings.HasPrefix(set, "PWD=") }) {
		env = append(slices.Clone(env), "PWD="+s.CWD) // as a shell sets it
	}
	ticks := uint64(s.Started.Sub(p.boot) / tick)
	p.made++
	dir := fmt.Sprintf("new/%d", p.made)
	p.write(dir+"/stat", stat(pid, s, 'S', ticks))
	p.write(dir+"/comm", s.Comm+"\n")
	p.write(dir+"/status", fmt.Sprintf("Name:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n", s.Comm, pid, pid, max(s.PPID, 1)))
	p.write(dir+"/cmdline", zeroTerminated(s.Args))
	p.write(dir+"/environ", zeroTerminated(env))
	p.link(dir+"/exe", s.Exe)
	p.link(dir+"/cwd", s.CWD)
	p.link(dir+"/fd/0", "/dev/pts/0")
	for i, path := range s.Files {
		p.link(fmt.Sprintf("%s/fd/%d", dir, i+3), path)
	}
	p.fds[pid], p.specs[pid] = len(s.Files)+3, s
	p.check(os.Rename(filepath.Join(p.dir, dir), p.folder(pid)))
	return proc.Identity{PID: pid, Start: ticks, Boot: bootID}
}

// Move renames a folder, and with it the working folders of the processes that are in it or below it. What they were started with stays.
func (p *Procs) Move(from, to string) {
	p.t.Helper()
	p.check(os.Rename(from, to))
	if p.run != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for pid := range p.specs {
		link := filepath.Join(p.folder(pid), "cwd")
		now, err := os.Readlink(link)
		p.check(err)
		if rest, below := strings.CutPrefix(now+"/", from+"/"); below {
			p.check(os.Remove(link))
			p.check(os.Symlink(filepath.Join(to, rest), link))
		}
	}
}

// Open lets a process hold a file open.
func (p *Procs) Open(pid int, path string) {
	p.t.Helper()
	if p.run != nil {
		p.run.Open(pid, path)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check(os.Symlink(path, filepath.Join(p.folder(pid), "fd", strconv.Itoa(p.fds[pid]))))
	p.fds[pid]++
}

// Close closes a file that Open has let a process hold. A process that runs goes on to hold it, until it ends.
func (p *Procs) Close(pid int, path string) {
	p.t.Helper()
	if p.run != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := filepath.Glob(filepath.Join(p.folder(pid), "fd", "*"))
	p.check(err)
	for _, fd := range held {
		if target, err := os.Readlink(fd); err == nil && target == path {
			p.check(os.Remove(fd))
		}
	}
}

// Lock lets a process hold the lock of a file that exists.
func (p *Procs) Lock(pid int, path string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locks[path] = pid
	p.writeLocks()
}

// End ends a process; its locks go with it. A process that has ended already is
// no mistake.
func (p *Procs) End(pid int) {
	p.t.Helper()
	if p.run != nil {
		p.run.End(pid)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(pid)
}

// Suspend stops a process as SIGSTOP does.
func (p *Procs) Suspend(pid int) {
	p.t.Helper()
	if p.run != nil {
		p.run.Suspend(pid)
		return
	}
	p.setState(pid, 'T')
}

// Continue lets a suspended process go on.
func (p *Procs) Continue(pid int) {
	p.t.Helper()
	if p.run != nil {
		p.run.Continue(pid)
		return
	}
	p.setState(pid, 'S')
}

func (p *Procs) setState(pid int, state rune) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	s, there := p.specs[pid]
	if !there {
		p.t.Fatalf("process table: no process %d", pid)
	}
	p.write(fmt.Sprintf("proc/%d/stat", pid), stat(pid, s, state, uint64(s.Started.Sub(p.boot)/tick)))
}

// SetClock sets the clock forward, and returns the table as it is from then on: the starts of the processes move with the clock,
// and what was written before does not.
func (p *Procs) SetClock(forward time.Duration) *proc.Table {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write("proc/stat", fmt.Sprintf("cpu  0 0 0 0\nbtime %d\n", p.boot.Add(forward).Unix()))
	return proc.OpenAt(p.Root(), p.Etc())
}

// OwnPipe gives the process with this folder a pipe that it made at a time, with both of its ends.
func OwnPipe(t testing.TB, folder string, at time.Time) {
	t.Helper()
	name := "pipe:[" + filepath.Base(folder) + "]"
	pipe := filepath.Join(folder, "fd", name)
	must.Do(t, os.WriteFile(pipe, nil, 0o600))
	must.Do(t, os.Chtimes(pipe, at, at))
	for _, fd := range []string{"900", "901"} {
		must.Do(t, os.Symlink(name, filepath.Join(folder, "fd", fd)))
	}
}

// Zombie ends a process whose parent does not wait for it: its row stays.
func (p *Procs) Zombie(id proc.Identity) {
	p.t.Helper()
	p.End(id.PID)
	p.mu.Lock()
	defer p.mu.Unlock()
	comm := "defunct"
	p.made++
	dir := fmt.Sprintf("new/%d", p.made)
	p.write(dir+"/stat", stat(id.PID, Spec{Comm: comm}, 'Z', id.Start))
	p.write(dir+"/comm", comm+"\n")
	p.write(dir+"/status", fmt.Sprintf("Name:\t%s\nState:\tZ (zombie)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\n", comm, id.PID, id.PID))
	p.write(dir+"/cmdline", "")
	p.write(dir+"/environ", "")
	p.check(os.MkdirAll(filepath.Join(p.dir, dir, "fd"), 0o755))
	p.check(os.Rename(filepath.Join(p.dir, dir), p.folder(id.PID)))
}

func (p *Procs) remove(pid int) {
	for path, owner := range p.locks {
		if owner == pid {
			delete(p.locks, path)
			defer p.writeLocks()
		}
	}
	p.made++
	gone := filepath.Join(p.dir, "new", fmt.Sprint("gone", p.made))
	err := os.Rename(p.folder(pid), gone)
	if os.IsNotExist(err) {
		return
	}
	p.check(err)
	p.check(os.RemoveAll(gone))
	delete(p.fds, pid)
	delete(p.specs, pid)
}

func (p *Procs) folder(pid int) string { return filepath.Join(p.Root(), strconv.Itoa(pid)) }

func (p *Procs) writeLocks() {
	var lines strings.Builder
	for path, pid := range p.locks {
		info, err := os.Stat(path)
		if err != nil {
			continue // removed while locked
		}
		st := info.Sys().(*syscall.Stat_t)
		id, _ := proc.FileIDOf(info)
		fmt.Fprintf(&lines, "1: FLOCK  ADVISORY  WRITE %d %02x:%02x:%d 0 EOF\n", pid, id.Major, id.Minor, st.Ino)
	}
	p.write("proc/locks", lines.String())
}

// write puts a file in place as a whole.
func (p *Procs) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.check(os.MkdirAll(filepath.Dir(path), 0o755))
	p.check(os.WriteFile(path+".new", []byte(content), 0o644))
	p.check(os.Rename(path+".new", path))
}

func (p *Procs) link(name, target string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.check(os.MkdirAll(filepath.Dir(path), 0o755))
	p.check(os.Symlink(target, path))
}

func (p *Procs) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("process table: %v", err)
	}
}

// firstPTS is the major device number of /dev/pts/0.
const firstPTS = 136

// stat is /proc/PID/stat with the fields that matter; the others are zero.
func stat(pid int, s Spec, state rune, ticks uint64) string {
	fields := make([]string, 52)
	for i := range fields {
		fields[i] = "0"
	}
	fields[0] = strconv.Itoa(pid)
	fields[1] = "(" + s.Comm + ")"
	fields[2] = string(state)
	fields[3] = strconv.Itoa(max(s.PPID, 1))
	fields[4], fields[5] = fields[0], fields[0]
	if s.PTS > 0 {
		fields[6] = strconv.Itoa(firstPTS<<8 + s.PTS)
	}
	fields[19] = "1"
	fields[21] = strconv.FormatUint(ticks, 10)
	return strings.Join(fields, " ") + "\n"
}

func zeroTerminated(values []string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(v)
		b.WriteByte(0)
	}
	return b.String()
}

// Spec returns how a process was started.
func (p *Procs) Spec(pid int) Spec {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.specs[pid]
}
