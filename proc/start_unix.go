//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

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
