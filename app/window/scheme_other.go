//go:build !headless && !linux

package window

import "context"

// watchScheme returns nil: Fyne follows the desktop itself on this platform.
func watchScheme(context.Context) <-chan bool { return nil }
