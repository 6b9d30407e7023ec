package desktoptest

import "image"

// The panels that a desktop can have. They differ in how they host a tray: the
// one is GTK with libdbusmenu, the other Qt.
const (
	XfcePanel = "xfce4-panel"
	LXQtPanel = "lxqt-panel"
)

// Options say what the desktop consists of. The zero value is a screen, a bus
// and a window manager.
type Options struct {
	Panel         string      // XfcePanel, LXQtPanel or "" for a desktop without a tray
	Notifications bool        // run a notification daemon (dunst)
	Dark          bool        // dark themes
	Size          image.Point // of the screen; zero: 1280×800
}
