//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// detach puts the command into its own session: it then has no terminal, and ends together with all processes that it
// started.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:forbidigo // the group of a child that wasn't waited for is its own
	}
}
