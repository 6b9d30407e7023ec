//go:build race && !headless

package window

const checksCalls = true
