package machine

import (
	"os/exec"

	"rollcall/proc"
)

// detach starts the command without a console window.
func detach(cmd *exec.Cmd) { proc.WithoutWindow(cmd) }
