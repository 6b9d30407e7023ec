package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// WithoutWindow makes cmd, which nobody looks at, open no console window, and returns it. Without this Windows opens one for every
// console program that the tray or the window starts.
func WithoutWindow(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_NO_WINDOW
	return cmd
}
