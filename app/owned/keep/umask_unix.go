//go:build unix

package keep

import (
	"sync"
	"syscall"

	"rollcall/proc"
)

// umasks is locked while the process temporarily has another umask.
var umasks sync.Mutex

func umask() int {
	umasks.Lock()
	defer umasks.Unlock()
	old := syscall.Umask(0o077) // the system has no call that only reads it
	syscall.Umask(old)
	return old
}

// startWithUmask starts a command with the umask of another process. What this process creates meanwhile is unaffected:
// its files and folders are for the user alone.
func startWithUmask(c proc.Command, mask int) (*proc.Child, error) {
	if mask < 0 {
		return proc.Start(c)
	}
	umasks.Lock()
	defer umasks.Unlock()
	defer syscall.Umask(syscall.Umask(mask & 0o777))
	return proc.Start(c)
}
