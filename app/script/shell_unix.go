//go:build unix

package script

import (
	"context"
	"os/exec"
	"syscall"
)

// shell runs a command in the user's shell, in a process group that ends as a
// whole.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:forbidigo // the group of a child that wasn't waited for is its own
	}
	return cmd
}
