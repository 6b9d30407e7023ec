//go:build !headless

package desktop

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"

	"rollcall/app/self/executable"
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

// detached returns attributes with which the window's process has no console and gets
// none of the tray's signals.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
