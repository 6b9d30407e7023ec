package machine

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach starts the command without a console window.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}
