package ui

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached puts a program into a process group of its own, without a console
// of the window's.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NEW_CONSOLE}
}
