//go:build !headless

package desktop

import (
	"errors"
	"os"
	"os/exec"
	"runtime"

	"rollcall/notify"
)

// awaitWindow waits for the end of a window's process, and notifies the user if it failed. The process's messages are on standard error.
func (p *parts) awaitWindow(cmd *exec.Cmd) {
	exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	if ok && exit.Exited() { // otherwise the user closed the window, or sent a signal to its process
		p.windowFailed(windowFailure(runtime.GOOS, os.Getenv, exit.ExitCode()))
	}
}

// exitPanic is the exit code of a Go program that panics.
const exitPanic = 2

// windowFailure returns the notification for a window process that ended with an exit code: what is missing, and which package
// has it. Without working OpenGL the toolkit ends the process with exit code 1.
func windowFailure(goos string, getenv func(string) string, code int) notify.Text {
	const rest = "\nThe tray and “rollcall list” work without the window."
	text := notify.Text{Title: "The window could not be opened"}
	switch {
	case code == exitPanic:
		return notify.Text{Title: "The window ended because of a bug", Body: "Start “rollcall window” in a terminal to see the message, and report it." + rest}
	case goos == "windows":
		text.Body = "It needs OpenGL 2.1 or later. Install the driver of the graphics card; a remote desktop may have none."
	case goos == "darwin":
		text.Body = "Start “rollcall window” in a terminal to see the reason."
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") != "":
		text.Body = "This Wayland session has no Xwayland, which it needs. Install xwayland (Debian, Ubuntu), xorg-x11-server-Xwayland (Fedora) or xorg-xwayland (Arch Linux), and log in again."
	case getenv("DISPLAY") == "":
		text.Body = "Rollcall was started outside of a desktop session (DISPLAY is not set). Start it from the menu of applications."
	default:
		text.Body = "If OpenGL is missing, install libegl1, libgles2 and libgl1-mesa-dri (Debian, Ubuntu), mesa-dri-drivers (Fedora) or mesa (Arch Linux). “rollcall window” in a terminal shows the reason."
	}
	text.Body += rest
	return text
}
