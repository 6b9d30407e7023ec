// Package proc reads the process table, identifies processes for their whole lifetime,
// and reports the end of any process as an event.
package proc

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"
)

// ErrGone reports that a process is no longer there: its pid is free, belongs to a
// zombie, or belongs to another process than the one that was meant.
var ErrGone = errors.New("process is gone")

// ErrUnsupported reports that the operating system does not provide a function.
var ErrUnsupported = errors.New("not known on this system")

// Identity names one process for its whole lifetime: a pid alone is never trusted,
// since pids are reused. Identities are comparable with ==. On Linux the start time is
// as fine as the clock tick: a pid reused within 10 ms, which the kernel does only when
// forced to, would go unnoticed.
type Identity struct {
	PID int `json:"pid"`
	// Start is the raw start time, as the system keeps it: clock ticks since boot on
	// Linux (field 22 of /proc/PID/stat), microseconds since the epoch on macOS, 100 ns
	// since 1601 on Windows. The zero value stands for no process.
	Start uint64 `json:"start"`
	// Boot distinguishes boots where Start counts from the boot (Linux: boot_id); empty
	// elsewhere. An identity without it, made from an agent's own record of pid and
	// start time, counts as one of this boot. It is not == to the identity in the row
	// of the table, so use the Identity of the row once it is found.
	Boot string `json:"boot,omitempty"`
}

// IsZero reports whether id names no process.
func (id Identity) IsZero() bool { return id.PID == 0 }

// String returns the process for a message: "pid 1234 (started 403845)".
func (id Identity) String() string {
	if id.IsZero() {
		return "no process"
	}
	return "pid " + strconv.Itoa(id.PID) + " (started " + strconv.FormatUint(id.Start, 10) + ")"
}

// Self returns the identity of the calling process on this machine, whatever
// HOST_PROC says. It is zero only where the system's own table can't be read.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	p, err := openOwn().Find(os.Getpid())
	if err != nil {
		return Identity{}
	}
	return p.Identity
})

// Process is one row of the table. Zombies are left out of it: they are dead.
type Process struct {
	Identity
	PPID    int
	SID     int       // session id; 0 where not known
	Comm    string    // name as the system keeps it; Linux cuts it to 15 bytes; no ".exe"
	Started time.Time // from Start; on Linux only as exact as the clock tick
	// Suspended reports that the process is stopped: by SIGSTOP or Ctrl-Z
	// (state T on Linux, SSTOP on macOS), or with all threads suspended (Windows).
	Suspended bool
}

// startError is the longest time by which what a process wrote can seem older than the process: its start is kept in clock
// ticks, the time of the boot may be off by sameBoot on Linux, and a record's time is cut to milliseconds.
const startError = 10 * time.Millisecond

// BeganAfter reports whether the process certainly began after a time that a record states: the process did not write it.
func (p *Process) BeganAfter(at time.Time) bool { return at.Before(p.Started.Add(-startError)) }

// Load is what a process uses.
type Load struct {
	Processor time.Duration // that it has used since its start
	// Memory is the resident memory in bytes. Memory that the process shares with others, such as that of libraries, is included.
	Memory uint64
}

// Details reads what a process shows beyond its row in the table. Each detail is read when
// it is asked for, and may be denied for other users' processes.
type Details interface {
	Args(id Identity) ([]string, error)
	// ArgsSize returns the length of the memory that has the command line, with a zero byte for each argument. It stays the same when the process
	// overwrites its command line with a title. It returns ErrUnsupported except on Linux.
	ArgsSize(id Identity) (int, error)
	Exe(id Identity) (string, error)
	CWD(id Identity) (string, error)
	// InnerPIDs returns the pids of the process in the pid namespaces below this one, the
	// outermost first; none for a process of this namespace. It returns ErrUnsupported except
	// on Linux.
	InnerPIDs(id Identity) ([]int, error)
	// Env returns the process's own start environment as "KEY=value".
	Env(id Identity) ([]string, error)
	// OpenFiles returns the paths of the regular files that the process has open, each
	// once. Files that were removed or replaced since are left out.
	OpenFiles(id Identity) ([]string, error)
	// RemovedFiles returns the files that the process has open and that were removed or
	// replaced since. For each it returns the path that the file had, and a path below /proc by
	// which the file can be read while the process has it open. It returns ErrUnsupported
	// except on Linux.
	RemovedFiles(id Identity) (map[string]string, error)
	// Appended returns the offsets in a file at which the last writes of the process ended, one
	// for each of its descriptors for appending, the highest first. Descriptors that wrote
	// nothing are left out. The path is that of OpenFiles. It returns ErrUnsupported except on
	// Linux.
	Appended(id Identity, path string) ([]int64, error)
	// Watched returns the files and folders that the process watches with inotify. It returns
	// ErrUnsupported except on Linux.
	Watched(id Identity) ([]FileID, error)
	// Root returns the folder below which the process's files are found,
	// /proc/PID/root, if the process has its own mount namespace or root folder, as in
	// a container. It returns "" if the process shares ours, and on systems without
	// these. The contents of the folder disappear with the process.
	Root(id Identity) (string, error)
	// Terminal returns the device of the controlling terminal of a process, such as "/dev/pts/3"; empty: it has none. It returns
	// ErrUnsupported on Windows.
	Terminal(id Identity) (string, error)
	// OpenTerminals returns the pseudo-terminals that a process has open by their names, each once. It returns ErrUnsupported except on Linux.
	OpenTerminals(id Identity) ([]string, error)
	// Made returns the time of the oldest of the files that a process has made for itself, which programs of Node.js and Bun do right after their
	// start. It is zero if there is none, and always except on Linux, where Started moves when the clock is set and this time stays.
	Made(p Process) (time.Time, error)
	// OlderTerminal reports whether the terminal of a process is certainly older than the leader of its session: on Linux the clock was set forward
	// then, since the leader starts in a new terminal. It is false on other systems, and without a terminal.
	OlderTerminal(id Identity) (bool, error)
	// Threads returns the start times of the process's live threads, the earliest first. It
	// returns ErrUnsupported except on Linux.
	Threads(id Identity) ([]time.Time, error)
	// Written returns the number of bytes that the process has written since its start, to
	// files, terminals, pipes and sockets. It is at least the number of bytes that the process
	// added to any one file. Written returns ErrUnsupported except on Linux.
	Written(id Identity) (uint64, error)
	// Load returns what the process uses.
	Load(id Identity) (Load, error)
	// LastRun returns when a thread of the process ran on a processor last. It returns ErrUnsupported except on Linux, and there where the kernel does not tell it.
	LastRun(id Identity) (time.Time, error)
	// LastReceived returns when a TCP connection that the process has open received data last, or was made; zero without one. It returns ErrUnsupported
	// except on Linux, and another error where the connections can't be seen: those of another network namespace.
	LastReceived(id Identity) (time.Time, error)
	// Sockets returns the number of sockets that the process has open, without its standard
	// input, output and error. It returns ErrUnsupported except on Linux.
	Sockets(id Identity) (int, error)
}

// Lister is the process table as adapters see it. *Table implements it. It is safe for
// concurrent use. Every method that takes an Identity returns ErrGone when the process
// is no longer alive, also when another process has its pid.
type Lister interface {
	Details
	// List returns every live process, in no particular order. A process that ends
	// meanwhile is left out. If List also returns an error, the rows are right and the
	// error reports the missing ones.
	List(ctx context.Context) ([]Process, error)
	// Find returns the live process that has this pid now, or ErrGone.
	Find(pid int) (Process, error)
	// Alive reports whether the process is alive. It returns true where that is not
	// known: a process that may be alive is never reported as dead.
	Alive(id Identity) bool
	// FileLocks returns, per locked file, the pid that holds a flock or POSIX lock on it. It
	// returns ErrUnsupported except on Linux.
	FileLocks() (map[FileID]int, error)
	// Holders returns the other processes that have a file open, for systems on which OpenFiles can't list the files of a process. It returns
	// ErrUnsupported except on Windows, where Restart Manager is asked, and an error where the answer can't be relied on.
	Holders(path string) ([]Identity, error)
	// Domain returns the machine and pid namespace in the form that Claude Code writes into its
	// registry: "linux:<machine-id>:pid:[4026531836]". It returns "" where they can't be known.
	Domain() string
	// Pressure returns the share of the last ten seconds, 0 to 1, in which a program of this
	// machine waited for a processor. It returns 0 where the system does not report that: on
	// systems other than Linux, with kernels before 4.20, and with kernels that have it
	// switched off.
	Pressure() float64
}

// FileID names a file by device and inode, as /proc/locks does.
type FileID struct {
	Major, Minor uint32
	Inode        uint64
}
