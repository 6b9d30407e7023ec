//go:build !windows

package proc

import "os/exec"

// WithoutWindow returns cmd: a program opens a window of a console on Windows alone.
func WithoutWindow(cmd *exec.Cmd) *exec.Cmd { return cmd }
