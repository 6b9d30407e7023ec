//go:build !linux

package notify

import "context"

// DesktopQuiet reads whether the desktop shows no notifications at the moment, which is not possible on this platform.
type DesktopQuiet struct{}

// NewDesktopQuiet returns a reader.
func NewDesktopQuiet(string) *DesktopQuiet { return &DesktopQuiet{} }

// Is returns false.
func (*DesktopQuiet) Is(context.Context) bool { return false }
