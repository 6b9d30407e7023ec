//go:build faults

// Package fault marks points at which tests kill the process. Points do nothing in the normal build. In a build with the
// tag "faults" the process kills itself, as if by kill -9, at the point that the variable ROLLCALL_FAULT names.
package fault

import (
	"fmt"
	"os"
)

// Point kills the process if ROLLCALL_FAULT has this name. It appends the name to the file ROLLCALL_FAULT_LIST, if set.
func Point(name string) {
	if list := os.Getenv("ROLLCALL_FAULT_LIST"); list != "" {
		if f, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = fmt.Fprintln(f, name)
			_ = f.Close()
		}
	}
	if os.Getenv("ROLLCALL_FAULT") != name {
		return
	}
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}
