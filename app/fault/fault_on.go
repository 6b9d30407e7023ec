//go:build faults

// Package fault marks the places where a crash would hurt most. In the program
// they do nothing; in a build with the tag "faults" the variable ROLLCALL_FAULT
// names the one at which the process kills itself, as if by kill -9.
package fault

import (
	"fmt"
	"os"
)

// Point is a place at which a test may let the process die.
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
