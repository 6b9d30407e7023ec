// Package window is Rollcall's window process, the only package that imports
// fyne.io/fyne/v2/app. It is a process of its own beside the tray: Fyne's loop
// never sleeps, and without working OpenGL Fyne ends its process with
// os.Exit(1), which must not take the tray along.
package window
