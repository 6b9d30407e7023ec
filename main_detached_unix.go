//go:build unix && !headless

package main

import "syscall"

// detached puts the window's process into a session of its own: it outlives the
// tray and gets none of its signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
