package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit of field 22 of /proc/PID/stat. The kernel's USER_HZ
// is 100 on every architecture that Go runs on; sysconf would only repeat it.
const ticksPerSecond = 100

// Table reads the process table of one /proc tree. It keeps no processes: each
// answer is read again.
type Table struct {
	root         string // as "/proc"
	etc          string // as "/etc"
	ownNamespace bool   // root shows the pids of our own pid namespace, live

	domain func() string

	mu     sync.Mutex
	booted time.Time // when this machine, or the recorded one, was booted
	bootID string
}

var _ Lister = (*Table)(nil)

// Open returns the table of this machine. Like gopsutil it reads the trees that
// the environment variables HOST_PROC and HOST_ETC name, when they are set.
func Open() *Table {
	root, etc := os.Getenv("HOST_PROC"), os.Getenv("HOST_ETC")
	if root == "" {
		root = "/proc"
	}
	if etc == "" {
		etc = "/etc"
	}
	return OpenAt(root, etc)
}

// OpenAt returns the table of any /proc tree, for example a recorded one. etcRoot is
// the /etc tree that has the machine id. A recorded tree may lack
// sys/kernel/random/boot_id: its identities then have no Boot.
func OpenAt(procRoot, etcRoot string) *Table {
	t := &Table{root: filepath.Clean(procRoot), etc: filepath.Clean(etcRoot)}
	t.ownNamespace = t.isOwn()
	t.domain = sync.OnceValue(t.readDomain)
	return t
}

// openOwn returns the table of this machine, whatever HOST_PROC says.
func openOwn() *Table { return OpenAt("/proc", "/etc") }

// isOwn reports whether the tree is a live procfs of the pid namespace we run in.
func (t *Table) isOwn() bool {
	var fsType unix.Statfs_t
	if unix.Statfs(t.root, &fsType) != nil || int64(fsType.Type) != unix.PROC_SUPER_MAGIC {
		return false
	}
	self, err := os.Readlink(filepath.Join(t.root, "self"))
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// List implements Lister. It reads one file per process, stat. Processes whose stat may
// not be read (a /proc mounted with hidepid) are left out. A stat file in another form
// is reported in the error; the rows of all others are returned.
func (t *Table) List(ctx context.Context) ([]Process, error) {
	dir, err := os.Open(t.root)
	if err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	list := lister{table: t, dir: int(dir.Fd()), bootID: t.boot(), booted: t.bootTime()}
	for i, name := range names {
		if i%128 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("process table: %w", ctx.Err())
		}
		if _, ok := parsePID(name); !ok {
			continue
		}
		if err := list.add(name); err != nil {
			return nil, err
		}
	}
	return list.rows, list.problems()
}

// lister collects the rows of one List.
type lister struct {
	table     *Table
	dir       int
	bootID    string
	booted    time.Time
	rows      []Process
	malformed []error
}

// maxMalformed is the largest number of malformed files that List names one by one.
const maxMalformed = 5

// add reads one process. It returns an error only for a failure that concerns the whole
// table.
func (l *lister) add(name string) error {
	s, err := readStat(l.dir, name+"/stat")
	switch {
	case isGone(err), errors.Is(err, fs.ErrPermission):
	case isExhausted(err):
		return fmt.Errorf("process table: %s: %w", l.table.root, err)
	case err != nil:
		l.malformed = append(l.malformed, fmt.Errorf("%s: %w", filepath.Join(l.table.root, name, "stat"), err))
	case !s.dead():
		l.rows = append(l.rows, s.process(l.bootID, l.booted))
	}
	return nil
}

// problems joins the errors of single processes.
func (l *lister) problems() error {
	if more := len(l.malformed) - maxMalformed; more > 0 {
		l.malformed = append(l.malformed[:maxMalformed], fmt.Errorf("%s: %d more malformed files", l.table.root, more))
	}
	return errors.Join(l.malformed...)
}

// process returns the row of a process.
func (s *stat) process(bootID string, booted time.Time) Process {
	const tick = time.Second / ticksPerSecond
	return Process{
		Identity: Identity{PID: s.pid, Start: s.start, Boot: bootID},
		PPID:     s.ppid, SID: s.sid, Comm: s.comm,
		Started:   booted.Add(time.Duration(s.start) * tick),
		Suspended: s.state == 'T',
	}
}

// Find implements Lister. For the id of a thread it returns ErrGone too.
func (t *Table) Find(pid int) (Process, error) {
	s, err := t.stat(pid)
	if err == nil && t.isThread(pid) {
		err = ErrGone
	}
	if err != nil {
		return Process{}, err
	}
	return s.process(t.boot(), t.bootTime()), nil
}

// stat reads the stat of a live process, or of a thread.
func (t *Table) stat(pid int) (stat, error) {
	if pid <= 0 {
		return stat{}, ErrGone
	}
	path := t.path(pid, "stat")
	s, err := readStat(unix.AT_FDCWD, path)
	switch {
	case isGone(err):
		return stat{}, ErrGone
	case err != nil:
		return stat{}, fmt.Errorf("%s: %w", path, err)
	case s.pid != pid, s.dead():
		return stat{}, ErrGone
	}
	return s, nil
}

// isThread reports whether id is that of a thread other than a process's first:
// /proc doesn't list those, but opens them. A recorded tree need not have the file.
func (t *Table) isThread(id int) bool {
	var buffer [4096]byte
	n, _ := readAt(unix.AT_FDCWD, t.path(id, "status"), buffer[:])
	leader, found := field(buffer[:n], "Tgid:")
	return found && leader != strconv.Itoa(id)
}

// check returns nil when the process identified by id is alive, ErrGone when it is not,
// and another error when that can't be known.
func (t *Table) check(id Identity) error {
	if id.Boot != "" && t.boot() != "" && id.Boot != t.boot() {
		return ErrGone
	}
	s, err := t.stat(id.PID) // a thread that has the pid now started later
	if err == nil && s.start != id.Start {
		return ErrGone
	}
	return err
}

// Domain implements Lister: the form was read from the registry of Claude Code
// 2.1.329. It is empty for a tree without machine-id or self/ns/pid.
func (t *Table) Domain() string { return t.domain() }

func (t *Table) readDomain() string {
	var buffer [128]byte
	n, err := readAt(unix.AT_FDCWD, filepath.Join(t.etc, "machine-id"), buffer[:])
	machine := strings.TrimSpace(string(buffer[:n]))
	if err != nil || machine == "" {
		return ""
	}
	namespace, err := os.Readlink(filepath.Join(t.root, "self/ns/pid"))
	if err != nil {
		return ""
	}
	return "linux:" + machine + ":" + namespace
}

// boot returns the boot id, empty where the tree has none.
func (t *Table) boot() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bootID == "" {
		var buffer [128]byte
		path := filepath.Join(t.root, "sys/kernel/random/boot_id")
		if n, err := readAt(unix.AT_FDCWD, path, buffer[:]); err == nil {
			t.bootID = strings.TrimSpace(string(buffer[:n]))
		}
	}
	return t.bootID
}

func (t *Table) path(pid int, name string) string {
	return t.root + "/" + strconv.Itoa(pid) + "/" + name
}

// Pressure implements Lister, from the first line of /proc/pressure/cpu:
// "some avg10=12.34 avg60=… avg300=… total=…", in percent.
func (t *Table) Pressure() float64 {
	var buffer [256]byte
	n, err := readAt(unix.AT_FDCWD, filepath.Join(t.root, "pressure/cpu"), buffer[:])
	if err != nil {
		return 0
	}
	rest, ok := strings.CutPrefix(string(buffer[:n]), "some avg10=")
	number, _, _ := strings.Cut(rest, " ")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent > 0) {
		return 0
	}
	return min(percent/100, 1)
}
