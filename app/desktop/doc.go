// Package desktop assembles the tray process and the window process from their parts. The
// headless build does not contain it.
package desktop
