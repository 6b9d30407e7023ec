//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// apart gives the command no terminal, and kills it with all processes that it started when its context is done.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:forbidigo // the group of a child that wasn't waited for is its own
	}
}
