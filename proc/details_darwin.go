package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"
)

// lsofLimit is the time limit of one run of lsof, which takes some 50 ms.
const lsofLimit = 2 * time.Second

// procArgs reads path, arguments and environment. The system refuses them for
// other users' processes with EINVAL.
func procArgs(pid int) (exe string, args, env []string, err error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		return "", nil, nil, fmt.Errorf("pid %d: arguments and environment: %w", pid, fs.ErrPermission)
	}
	if err != nil {
		return "", nil, nil, fmt.Errorf("pid %d: arguments and environment: %w", pid, err)
	}
	exe, args, env, err = parseProcArgs(b)
	if err != nil {
		return "", nil, nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	return exe, args, env, nil
}

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		_, args, _, err := procArgs(id.PID)
		return args, err
	})
}

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		p := &process.Process{Pid: int32(id.PID)}
		if exe, err := p.Exe(); err == nil {
			return exe, nil
		}
		exe, _, _, err := procArgs(id.PID) // as it was given to exec
		return exe, err
	})
}

// Env implements Details. The system hides the environment of its own programs.
func (t *Table) Env(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		_, _, env, err := procArgs(id.PID)
		return env, err
	})
}

// CWD implements Details. It reads the folder through gopsutil in builds with cgo, and
// through lsof in those without.
func (t *Table) CWD(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		p := &process.Process{Pid: int32(id.PID)}
		if cwd, err := p.Cwd(); err == nil {
			return cwd, nil
		}
		files, err := lsof(id.PID, workingFolder, "-a", "-d", "cwd")
		if err != nil {
			return "", fmt.Errorf("pid %d: working directory: %w", id.PID, err)
		}
		if len(files) == 0 {
			return "", fmt.Errorf("pid %d: working directory: %w", id.PID, fs.ErrPermission)
		}
		return files[0], nil
	})
}

// OpenFiles implements Details, by lsof, which is part of macOS.
func (t *Table) OpenFiles(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) { return lsof(id.PID, openFile) })
}

// lsof returns the files that one process has open and that wanted accepts. narrow
// are further arguments.
func lsof(pid int, wanted func(descriptor, kind string) bool, narrow ...string) ([]string, error) {
	output, err := runLsof(append([]string{"-p", strconv.Itoa(pid), "-F", "ftn"}, narrow...)...)
	// lsof ends with status 1 when it could not read everything.
	if err != nil && output == "" {
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	return parseLsof(output, wanted), nil
}

// runLsof runs lsof for at most lsofLimit. -b and -w keep it from blocking on dead
// network mounts and from warning about that.
func runLsof(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lsofLimit)
	defer cancel()
	output, err := exec.CommandContext(ctx, "/usr/sbin/lsof", append([]string{"-b", "-w", "-n", "-P"}, args...)...).Output()
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrUnsupported
	}
	if err != nil {
		err = fmt.Errorf("lsof: %w", err)
	}
	return string(output), err
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
