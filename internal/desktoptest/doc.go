// Package desktoptest starts a real desktop on a virtual screen: an X server, a
// session bus, a window manager, a panel with a tray and a notification daemon,
// all of them private and gone after Close. Tests of the tray, the window and
// the notifications run in it, and so does a trial run on a machine without a
// screen. It works on Linux, as any user, several desktops at once.
//
// Nothing of the user's own desktop is touched: HOME and the XDG folders lie in
// a temporary folder, the bus starts no services, and only processes that the
// desktop started are ever signalled.
package desktoptest
