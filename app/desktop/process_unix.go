//go:build unix && !headless

package desktop

import (
	"fmt"
	"os"
	"syscall"

	"rollcall/app/self/executable"
)

// restart replaces the program of this process with the new one. The process keeps its pid, so that the service manager
// that started the tray at login still follows it.
func restart() error {
	self, err := executable.Path()
	if err == nil {
		err = syscall.Exec(self, os.Args, os.Environ())
	}
	return fmt.Errorf("the updated program could not be started: %w. Start Rollcall again by hand", err)
}

// detached returns attributes that start the window's process in its own session: it outlives the
// tray and gets none of the tray's signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
