package proc

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"
)

// gopsutilProcess returns gopsutil's view of a process, which reads details from the
// process's memory.
func gopsutilProcess(id Identity) *process.Process { return &process.Process{Pid: int32(id.PID)} }

// accessDenied returns the error for a process that may not be read: gopsutil then
// returns an empty value and no error. No process has an empty folder, command line or
// environment.
func accessDenied(id Identity) error { return fmt.Errorf("%s: %w", id, fs.ErrPermission) }

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		line, err := gopsutilProcess(id).Cmdline()
		if err == nil && line == "" {
			err = accessDenied(id)
		}
		if err != nil {
			return nil, err
		}
		return windows.DecomposeCommandLine(line)
	})
}

// CWD implements Details.
func (t *Table) CWD(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		dir, err := gopsutilProcess(id).Cwd()
		if err == nil && dir == "" {
			err = accessDenied(id)
		}
		if err != nil {
			return "", err
		}
		return filepath.Clean(dir), nil // it ends with a separator
	})
}

// Env implements Details.
func (t *Table) Env(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		env, err := gopsutilProcess(id).Environ()
		if err == nil && len(env) == 0 {
			err = accessDenied(id)
		}
		return env, err
	})
}

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) {
	handle, err := openProcess(id)
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
// together, and asking a pipe among them for its name can block forever.
func (t *Table) OpenFiles(Identity) ([]string, error) { return nil, ErrUnsupported }
