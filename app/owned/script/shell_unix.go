//go:build unix

package script

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command for /bin/sh in a new process group. Its Cancel kills the whole group.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:forbidigo // the group of a child that wasn't waited for is its own
	}
	return cmd
}
