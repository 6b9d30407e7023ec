//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// startDetached starts the command. On Windows the process leaves the job of its
// starter if the job permits that.
func startDetached(cmd *exec.Cmd) error { return cmd.Start() }

func openInput(path string) (*os.File, error) { return os.Open(path) }

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

func exitSignal(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return ""
}

var unixSignals = map[Signal]syscall.Signal{Interrupt: syscall.SIGINT, Terminate: syscall.SIGTERM, Kill: syscall.SIGKILL}

// signalError returns the error of sending a signal: ErrGone if there was no such process.
func signalError(s Signal, err error) error {
	switch {
	case errors.Is(err, syscall.ESRCH):
		return ErrGone
	case err != nil:
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// openPipe opens both ends of a named pipe. Unlike those of package os the file blocks, as programs expect of their
// standard input.
func openPipe(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && info.Mode()&fs.ModeNamedPipe == 0 {
		err = fmt.Errorf("%s is not a pipe", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// fillLimit is how long a process may take to read its first input from a pipe.
const fillLimit = time.Minute

// fill writes the contents of a file into a pipe that a process reads.
func fill(pipe, file string) error {
	if file == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_ = out.SetWriteDeadline(time.Now().Add(fillLimit))
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
