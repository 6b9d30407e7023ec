//go:build !headless

package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives the window's process no console and none of the tray's signals.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
