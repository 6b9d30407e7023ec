//go:build unix && !headless

package desktop

import (
	"fmt"
	"os"
	"syscall"

	"rollcall/app/executable"
)

// restart makes this process run the new program, as the same process: what started the tray at login keeps knowing it.
func restart() error {
	self, err := executable.Path()
	if err == nil {
		err = syscall.Exec(self, os.Args, os.Environ())
	}
	return fmt.Errorf("the updated program could not be started: %w. Start Rollcall again by hand", err)
}
