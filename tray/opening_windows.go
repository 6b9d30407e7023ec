package tray

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	wmQuit          = 0x0012
	wmInitMenuPopup = 0x0117
)

var (
	user32             = windows.NewLazySystemDLL("user32.dll")
	findWindowEx       = user32.NewProc("FindWindowExW")
	getWindowLongPtr   = user32.NewProc("GetWindowLongPtrW")
	setWindowLongPtr   = user32.NewProc("SetWindowLongPtrW")
	callWindowProc     = user32.NewProc("CallWindowProcW")
	postThreadMessage  = user32.NewProc("PostThreadMessageW")
	errNoSystrayWindow = errors.New("systray's window was not found")
)

// onMenuOpening calls opening each time before the tray's menu is drawn, on the thread of systray's window. It wraps the
// window's procedure, since systray does not report the opening on Windows.
func onMenuOpening(opening func()) error {
	window, err := systrayWindow()
	if err != nil {
		return err
	}
	var old uintptr
	procedure := windows.NewCallback(func(hwnd windows.HWND, message uint32, wParam, lParam uintptr) uintptr {
		if message == wmInitMenuPopup {
			opening()
		}
		result, _, _ := callWindowProc.Call(old, uintptr(hwnd), uintptr(message), wParam, lParam)
		return result
	})
	// Read the old procedure first: the new one may be called as soon as it is set.
	index := int32(-4) // GWLP_WNDPROC
	old, _, err = getWindowLongPtr.Call(uintptr(window), uintptr(index))
	if old == 0 {
		return fmt.Errorf("read the window procedure: %w", err)
	}
	if replaced, _, err := setWindowLongPtr.Call(uintptr(window), uintptr(index), procedure); replaced == 0 {
		return fmt.Errorf("set the window procedure: %w", err)
	}
	return nil
}

// systrayWindow returns systray's hidden window in this process.
func systrayWindow() (windows.HWND, error) {
	class, err := windows.UTF16PtrFromString("SystrayClass")
	if err != nil {
		return 0, err
	}
	var window uintptr
	for {
		window, _, _ = findWindowEx.Call(0, window, uintptr(unsafe.Pointer(class)), 0)
		if window == 0 {
			return 0, errNoSystrayWindow
		}
		var process uint32
		if _, err := windows.GetWindowThreadProcessId(windows.HWND(window), &process); err != nil {
			continue
		}
		if process == windows.GetCurrentProcessId() {
			return windows.HWND(window), nil
		}
	}
}

// endMessageLoop ends the message loop of a thread without a window.
func endMessageLoop(thread uint32) {
	_, _, _ = postThreadMessage.Call(uintptr(thread), wmQuit, 0, 0)
}
