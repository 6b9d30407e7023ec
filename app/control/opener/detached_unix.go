//go:build unix

package opener

import (
	"syscall"
)

// detached returns attributes that start a program in its own session: it outlives Rollcall and gets none of its
// signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
