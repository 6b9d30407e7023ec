//go:build unix && !headless

package desktop

import "syscall"

// detached returns attributes that put the window's process into a session of its own: it
// outlives the tray and gets none of its signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
