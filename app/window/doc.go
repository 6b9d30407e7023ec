// Package window runs Rollcall's window. It is the only package that imports fyne.io/fyne/v2/app. The window has its own
// process beside the tray: Fyne's loop never sleeps, and without working OpenGL Fyne may call os.Exit(1), which must not
// end the tray.
package window
