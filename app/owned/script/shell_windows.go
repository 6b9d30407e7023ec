package script

import (
	"context"
	"os/exec"
	"slices"
	"syscall"

	"rollcall/proc"
)

// shell returns a command for cmd.exe. Its Cancel also kills the descendants, except those whose parent has ended.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + command + `"`, HideWindow: true}
	cmd.Cancel = func() error {
		below := descendants(cmd.Process.Pid)
		err := cmd.Process.Kill()
		for _, p := range below {
			kill(p.Identity)
		}
		return err
	}
	return cmd
}

func descendants(pid int) []proc.Process {
	list, _ := proc.Open().List(context.Background())
	i := slices.IndexFunc(list, func(p proc.Process) bool { return p.PID == pid })
	if i < 0 {
		return nil
	}
	return proc.Descendants(list, list[i].Identity)
}

func kill(id proc.Identity) {
	if h, err := proc.Open().Hold(id); err == nil {
		_ = h.Send(proc.Kill)
		h.Close()
	}
}
