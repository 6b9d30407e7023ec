package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

const detachedFlags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW

func detachedAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedFlags | windows.CREATE_BREAKAWAY_FROM_JOB}
}

// startDetached starts the command outside the job of its starter, if the job permits
// that.
func startDetached(cmd *exec.Cmd) error {
	if err := Batch(cmd); err != nil {
		return err
	}
	err := cmd.Start()
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	again := &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: detachedFlags, CmdLine: cmd.SysProcAttr.CmdLine}}
	if err := again.Start(); err != nil {
		return err
	}
	*cmd = *again //nolint:govet // neither is in use yet
	return nil
}

// openInput opens a file for reading, so that it can be removed while the child has it open.
func openInput(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// exitSignal returns "": Windows ends no process by a signal.
func exitSignal(*os.ProcessState) string { return "" }

func openPipe(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func fill(string, string) error { return errors.ErrUnsupported }
