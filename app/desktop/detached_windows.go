//go:build !headless

package desktop

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached returns attributes with which the window's process has no console and gets
// none of the tray's signals.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
