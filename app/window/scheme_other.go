//go:build !headless && !linux

package window

import "context"

// watchScheme returns nil: Fyne follows the desktop itself on this platform.
func watchScheme(context.Context) <-chan bool { return nil }

// firstScheme returns false twice: see watchScheme.
func firstScheme(<-chan bool) (isDark, known bool) { return false, false }

// spareShaderCache does nothing: no cache is known that ends the process on a full disk.
func spareShaderCache(string) {}
