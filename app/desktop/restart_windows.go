//go:build !headless

package desktop

import (
	"fmt"
	"os"
	"os/exec"

	"rollcall/app/executable"
)

// restart starts the new program, after this one has given up its claim on being the tray.
func restart() error {
	self, err := executable.Path()
	if err == nil {
		cmd := exec.Command(self, os.Args[1:]...)
		cmd.SysProcAttr = detached()
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("the updated program could not be started: %w. Start Rollcall again by hand", err)
	}
	return nil
}
