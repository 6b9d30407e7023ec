package focus

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"rollcall/proc/desktop"
)

// Here returns nil: the tray does not ask which window has the focus on this platform.
func Here() desktop.Desktop { return nil }

// Desktops returns the desktop of this session.
func Desktops() []desktop.Desktop { return []desktop.Desktop{user32{}} }

// user32 reports and raises the windows of this session, by their handles. It was compiled and vetted, not run.
type user32 struct{}

var (
	user32DLL           = windows.NewLazySystemDLL("user32.dll")
	setForegroundWindow = user32DLL.NewProc("SetForegroundWindow")
	isIconic            = user32DLL.NewProc("IsIconic")
	showWindow          = user32DLL.NewProc("ShowWindow")
	getWindow           = user32DLL.NewProc("GetWindow")
)

const (
	gwOwner   = 4 // GW_OWNER
	swRestore = 9 // SW_RESTORE
	// foregroundLimit is how long Windows may take to give a window the focus.
	foregroundLimit = 700 * time.Millisecond
)

// Name implements Desktop.
func (user32) Name() string { return "Windows" }

// enumeration holds the windows that the callback of EnumWindows has seen. The callback is created only once: Windows never frees one.
var enumeration struct {
	mu   sync.Mutex
	seen []windows.HWND
	call func() uintptr
}

func init() {
	enumeration.call = sync.OnceValue(func() uintptr {
		return windows.NewCallback(func(w windows.HWND, _ uintptr) uintptr {
			enumeration.seen = append(enumeration.seen, w)
			return 1
		})
	})
}

// topLevel returns the top-level windows of this desktop.
func topLevel() ([]windows.HWND, error) {
	enumeration.mu.Lock()
	defer enumeration.mu.Unlock()
	enumeration.seen = nil
	err := windows.EnumWindows(enumeration.call(), nil)
	return enumeration.seen, err
}

func ownerOf(w windows.HWND) int {
	var pid uint32
	if _, err := windows.GetWindowThreadProcessId(w, &pid); err != nil {
		return 0
	}
	return int(pid)
}

// isMain reports whether a window is one that the user switches to. The windows of pseudo consoles are not shown.
func isMain(w windows.HWND) bool {
	if !windows.IsWindowVisible(w) {
		return false
	}
	if owner, _, _ := getWindow.Call(uintptr(w), gwOwner); owner != 0 {
		return false
	}
	name := make([]uint16, 64)
	n, err := windows.GetClassName(w, &name[0], int32(len(name)))
	return err != nil || windows.UTF16ToString(name[:max(n, 0)]) != "PseudoConsoleWindow"
}

// Active implements Desktop.
func (user32) Active(context.Context) (desktop.Window, bool, error) {
	w := windows.GetForegroundWindow()
	pid := ownerOf(w)
	return desktop.Window{ID: uint64(w), PID: pid}, w != 0 && pid != 0, nil
}

// Windows implements Desktop. It leaves out the windows of the Explorer, which is an ancestor of every program that the user starts.
func (user32) Windows(context.Context) (list []desktop.Window, err error) {
	all, err := topLevel()
	if err != nil {
		return nil, err
	}
	explorer := ownerOf(windows.GetShellWindow())
	for _, w := range all {
		if pid := ownerOf(w); pid != 0 && pid != explorer && isMain(w) {
			list = append(list, desktop.Window{ID: uint64(w), PID: pid})
		}
	}
	return list, nil
}

// Raise implements Desktop. Windows refuses to let a program raise a window while the user works with another program; the window then blinks in the task bar.
func (user32) Raise(ctx context.Context, w desktop.Window) error {
	handle := windows.HWND(w.ID)
	if ownerOf(handle) != w.PID {
		return errors.New("the window was closed")
	}
	if minimised, _, _ := isIconic.Call(uintptr(handle)); minimised != 0 {
		_, _, _ = showWindow.Call(uintptr(handle), swRestore)
	}
	_, _, _ = setForegroundWindow.Call(uintptr(handle))
	limit := time.NewTimer(foregroundLimit)
	defer limit.Stop()
	for windows.GetForegroundWindow() != handle {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return errors.New("Windows only made the button of the window in the task bar blink: click it")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
