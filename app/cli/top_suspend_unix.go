//go:build unix

package cli

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// stopSelf stops this program's process group, as a terminal does for Ctrl-Z, and returns when it goes on. It returns false where the system does not stop it,
// since no shell could continue it.
func stopSelf() bool {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	if unix.Kill(0, unix.SIGTSTP) != nil {
		return false
	}
	select {
	case <-continued:
		return true
	case <-time.After(time.Second): // it runs only while the program is not stopped
		return false
	}
}
