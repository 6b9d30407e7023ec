//go:build !linux && !windows

package app

// onBattery returns false: macOS reports the battery through IOKit, which needs cgo.
func onBattery() bool { return false }
