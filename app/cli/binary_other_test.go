//go:build !linux

package cli

func removeBinary() {}
