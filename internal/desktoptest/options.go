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
	Scale         int         // 2: programs are told that fonts have twice as many dots per inch (Xft.dpi); zero: 1
	Session       *Session    // a whole desktop environment, in place of the window manager, Panel and Notifications
}

// Session is a desktop environment that has its own window manager, panel and notification service.
type Session struct {
	Name      string
	Env       []string          // added to the environment of its programs and of those that run in it
	Files     map[string]string // their contents, by path below HOME
	Services  []string          // files in /usr/share/dbus-1/services that the bus may start
	SystemBus bool              // a system bus with stand-ins for logind and upower (python3-dbusmock)
	Programs  []Program         // in the order in which they are started
}

// Program is a program of a session.
type Program struct {
	Argv []string
	Name string // the program is ready when this name is on the session bus; empty: at once
}
