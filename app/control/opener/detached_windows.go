package opener

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached returns attributes that start a program in its own process group, without the console of Rollcall.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NEW_CONSOLE}
}
