package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"golang.org/x/sys/unix"
)

// errHiddenEnvironment reports that the system withholds the environment of a process, as macOS does for its own programs.
var errHiddenEnvironment = fmt.Errorf("the system hides the environment of this process: %w", fs.ErrPermission)

// procArgs reads arguments and environment; the environment is nil where it is hidden. The system refuses both for other users'
// processes with EINVAL.
func procArgs(pid int) (args, env []string, err error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = fs.ErrPermission
	}
	if err == nil {
		_, args, env, err = parseProcArgs(b)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("pid %d: arguments and environment: %w", pid, err)
	}
	return args, env, nil
}

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		args, _, err := procArgs(id.PID)
		return args, err
	})
}

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) {
	return detail(t, id, func() (string, error) { return executable(id.PID) })
}

// Env implements Details. The system hides the environment of its own programs: the error wraps fs.ErrPermission then.
func (t *Table) Env(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		_, env, err := procArgs(id.PID)
		if err == nil && env == nil {
			err = fmt.Errorf("pid %d: %w", id.PID, errHiddenEnvironment)
		}
		return env, err
	})
}

// CWD implements Details.
func (t *Table) CWD(id Identity) (string, error) {
	return detail(t, id, func() (string, error) { return workingFolder(id.PID) })
}

// OpenFiles implements Details.
func (t *Table) OpenFiles(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) { return openFiles(id.PID) })
}

// UID returns the real user id of a live process, or ErrGone.
func (t *Table) UID(id Identity) (int, error) {
	return detail(t, id, func() (int, error) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", id.PID)
		if err != nil {
			return 0, err
		}
		return int(k.Eproc.Pcred.P_ruid), nil
	})
}

// Load implements Details.
func (t *Table) Load(id Identity) (Load, error) {
	return detail(t, id, func() (Load, error) {
		info := make([]byte, taskInfoSize)
		n, err := procInfo(callPIDInfo, id.PID, flavorTask, 0, info)
		if err != nil {
			return Load{}, fmt.Errorf("pid %d: times and memory: %w", id.PID, err)
		}
		return parseTaskInfo(info[:n], runtime.GOARCH == "arm64")
	})
}

// majorTTYS is the major device number of macOS's pseudo-terminals, /dev/ttys000 and on.
const majorTTYS = 16

// Terminal returns the device of the controlling terminal of a process, such as "/dev/ttys003"; empty: it has none. This was
// compiled and vetted, not run.
func (t *Table) Terminal(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", id.PID)
		if err != nil {
			return "", err
		}
		number := k.Eproc.Tdev
		if number == -1 || number == 0 {
			return "", nil
		}
		major, minor := uint32(number)>>24, uint32(number)&0xffffff
		if major == majorTTYS {
			return fmt.Sprintf("/dev/ttys%03d", minor), nil
		}
		return fmt.Sprintf("terminal %d:%d", major, minor), nil
	})
}
