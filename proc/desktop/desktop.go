// Package desktop lists and raises the windows of the desktops that tell of them: X11, sway and Hyprland.
package desktop

import "context"

// Desktop reports and raises windows. Its methods are safe for concurrent use.
type Desktop interface {
	// Name returns the desktop's name for the user: "X11", "sway".
	Name() string
	// Active returns the window that has the focus. ok is false if none has it, or none whose process is known.
	Active(ctx context.Context) (w Window, ok bool, err error)
	// Windows returns the windows of processes of this machine, without panels and the desktop's background.
	Windows(ctx context.Context) ([]Window, error)
	// Raise gives a window the focus. It returns nil only if the desktop reports that the window has it.
	Raise(ctx context.Context, w Window) error
}

// Window is a window of a process of this machine.
type Window struct {
	ID    uint64 // unique on its desktop
	PID   int
	Title string // only in the list of all windows
}

// Is reports whether two values are of the same window.
func (w Window) Is(other Window) bool { return w.ID == other.ID && w.PID == other.PID }

// X11 is the name of the desktop to whose windows the variable WINDOWID refers.
const X11 = "X11"
