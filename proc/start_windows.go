package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

const apartFlags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: apartFlags | windows.CREATE_BREAKAWAY_FROM_JOB}
}

// startApart leaves the job if the job permits it.
func startApart(cmd *exec.Cmd) error {
	err := cmd.Start()
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	again := &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: apartFlags}}
	if err := again.Start(); err != nil {
		return err
	}
	*cmd = *again //nolint:govet // neither is in use yet
	return nil
}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
