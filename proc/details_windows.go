package proc

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"
)

// readMemory returns what gopsutil reads from a process's memory, unless it is empty: for a process that may not be read
// gopsutil returns an empty value and no error. No process has an empty folder, command line or environment.
func readMemory[T any](t *Table, id Identity, read func(*process.Process) (value T, length int, err error)) (T, error) {
	return detail(t, id, func() (T, error) {
		value, length, err := read(&process.Process{Pid: int32(id.PID)})
		if err == nil && length == 0 {
			err = fmt.Errorf("%s: %w", id, fs.ErrPermission)
		}
		return value, err
	})
}

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) {
	line, err := readMemory(t, id, func(p *process.Process) (string, int, error) {
		line, err := p.Cmdline()
		return line, len(line), err
	})
	if err != nil {
		return nil, err
	}
	return windows.DecomposeCommandLine(line)
}

// CWD implements Details.
func (t *Table) CWD(id Identity) (string, error) {
	dir, err := readMemory(t, id, func(p *process.Process) (string, int, error) {
		dir, err := p.Cwd()
		return dir, len(dir), err
	})
	if err != nil {
		return "", err
	}
	return filepath.Clean(dir), nil // it ends with a separator
}

// Env implements Details.
func (t *Table) Env(id Identity) ([]string, error) {
	return readMemory(t, id, func(p *process.Process) ([]string, int, error) {
		env, err := p.Environ()
		return env, len(env), err
	})
}

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) {
	handle, err := openProcess(id, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	name := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(name))
	if err := windows.QueryFullProcessImageName(handle, 0, &name[0], &size); err != nil {
		return "", err
	}
	return windows.UTF16ToString(name[:size]), nil
}

// OpenFiles implements Details: Windows lists only the handles of all processes
// together, and asking a pipe among them for its name can block forever. Holders answers
// the question for a file.
func (t *Table) OpenFiles(Identity) ([]string, error) { return nil, ErrUnsupported }

// UID returns ErrUnsupported: users have no numbers on Windows.
func (t *Table) UID(Identity) (int, error) { return 0, ErrUnsupported }

// Load implements Details.
func (t *Table) Load(id Identity) (Load, error) {
	handle, err := openProcess(id, 0)
	if err != nil {
		return Load{}, err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return Load{}, err
	}
	units := func(f windows.Filetime) uint64 { return uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime) }
	l := Load{Processor: time.Duration(100 * (units(kernel) + units(user)))} // a unit is 100 ns
	memory, err := (&process.Process{Pid: int32(id.PID)}).MemoryInfo()       // the handle keeps the pid from being reused
	if err == nil {
		l.Memory = memory.RSS
	}
	return l, err
}

// Terminal returns ErrUnsupported: processes have no controlling terminal on Windows.
func (t *Table) Terminal(Identity) (string, error) { return "", ErrUnsupported }
