//go:build !linux

package adaptertest

import "os"

func openUntouched(path string) (*os.File, error) { return os.Open(path) }
