//go:build unix

package ui

import "syscall"

// detached puts a program into a session of its own: it outlives the window
// and gets none of its signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
