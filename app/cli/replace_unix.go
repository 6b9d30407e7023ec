//go:build unix

package cli

import (
	"os"
	"syscall"
)

// replace executes a program in place of this process. It returns only on
// failure.
func replace(path string, args []string, dir string, env []string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, append([]string{path}, args...), env)}
}
