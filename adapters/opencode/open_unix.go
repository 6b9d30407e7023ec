//go:build unix

package opencode

import (
	"os"
	"syscall"
)

// openFile opens without waiting for a writer, should the file be a named pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
