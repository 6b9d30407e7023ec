//go:build !linux

package proc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// The functions in this file return ErrUnsupported or do nothing, because only Linux supports them, or only Linux in this form.

// Table reads the process table of this machine. It keeps no processes: each
// answer is read again. The macOS code was compiled and vetted, not run; the Windows
// code was run under Wine 8 only.
type Table struct{}

var _ Lister = (*Table)(nil)

// Open returns the table of this machine.
func Open() *Table { return &Table{} }

// hasEvents reports whether the processes of the table can end with an event.
func (t *Table) hasEvents() bool { return true }

// openOwn returns the table of this machine.
func openOwn() *Table { return Open() }

// Created returns zero: when a folder was made is asked on Linux only.
func Created(string) time.Time { return time.Time{} }

// RemovedFiles implements Details.
func (t *Table) RemovedFiles(Identity) (map[string]string, error) { return nil, ErrUnsupported }

// Appended implements Details.
func (t *Table) Appended(Identity, string) ([]int64, error) { return nil, ErrUnsupported }

// Watched implements Details.
func (t *Table) Watched(Identity) ([]FileID, error) { return nil, ErrUnsupported }

// InnerPIDs implements Details.
func (t *Table) InnerPIDs(Identity) ([]int, error) { return nil, ErrUnsupported }

// Root implements Details. Processes of a container are not in the table.
func (t *Table) Root(Identity) (string, error) { return "", nil }

// Made implements Details: the start of a process does not move when the clock is set.
func (t *Table) Made(Process) (time.Time, error) { return time.Time{}, nil }

// OlderTerminal implements Details.
func (t *Table) OlderTerminal(Identity) (bool, error) { return false, nil }

// Threads implements Details.
func (t *Table) Threads(Identity) ([]time.Time, error) { return nil, ErrUnsupported }

// LastRun implements Details.
func (t *Table) LastRun(Identity) (time.Time, error) { return time.Time{}, ErrUnsupported }

// LastReceived implements Details.
func (t *Table) LastReceived(Identity) (time.Time, error) { return time.Time{}, ErrUnsupported }

// Sockets implements Details.
func (t *Table) Sockets(Identity) (int, error) { return 0, ErrUnsupported }

// Written implements Details.
func (t *Table) Written(Identity) (uint64, error) { return 0, ErrUnsupported }

// Domain implements Lister.
func (t *Table) Domain() string { return "" }

// Pressure implements Lister.
func (t *Table) Pressure() float64 { return 0 }

// FileLocks implements Lister.
func (t *Table) FileLocks() (map[FileID]int, error) { return nil, ErrUnsupported }

// CheckBoundary returns nil for a live process.
func (t *Table) CheckBoundary(id Identity) error { return t.check(id) }

// ExeInfo returns the file that has the path of a process's program.
func (t *Table) ExeInfo(id Identity) (fs.FileInfo, error) {
	path, err := t.Exe(id)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// heldBy reports whether a process has the socket open.
func (l *listener) heldBy(id Identity) (bool, error) {
	return l.holder == uint64(id.PID) && Open().Alive(id), nil
}

// checkHolders returns nil: every process is in the boundary.
func (*listener) checkHolders() error { return nil }

// FileIDOf returns the id under which FileLocks lists the file that info
// describes. ok is false where the system keeps no such id.
func FileIDOf(fs.FileInfo) (id FileID, ok bool) { return FileID{}, false }

// OpenTerminals returns ErrUnsupported: it is only for Linux.
func (t *Table) OpenTerminals(Identity) ([]string, error) { return nil, ErrUnsupported }

// Surroundings returns nil: only Linux gives processes a separate network or separate mounts.
func Surroundings() map[string]string { return nil }

// findIsCheap reports that Find does not read the whole table.
const findIsCheap = false

// procTree is a faster way to read a table than List. There is none on this system.
type procTree struct{}

func treeOf(Lister) *procTree { return nil }

func (*procTree) find(Identity) (Process, error) { return Process{}, ErrGone }

func (*Scanner) scanTree(context.Context, *Changes) error { return errors.ErrUnsupported }

// ArgsSize implements Details.
func (t *Table) ArgsSize(Identity) (int, error) { return 0, ErrUnsupported }
