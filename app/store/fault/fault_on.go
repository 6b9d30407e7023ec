//go:build faults

// Package fault marks points at which tests kill the process. Points do nothing in the normal build. In a build with the
// tag "faults" the process kills itself, as if by kill -9, at the point that the variable ROLLCALL_FAULT names.
package fault

import (
	"fmt"
	"os"
	"strings"
	"time"
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

// Now returns the time. If ROLLCALL_CLOCK names a file, it adds the duration that is in the file.
func Now() time.Time {
	if file := os.Getenv("ROLLCALL_CLOCK"); file != "" {
		if text, err := os.ReadFile(file); err == nil {
			if d, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
				return time.Now().Add(d)
			}
		}
	}
	return time.Now()
}

// Wait returns the duration that the variable ROLLCALL_WAIT has, or normal without it.
func Wait(normal time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("ROLLCALL_WAIT")); err == nil {
		return d
	}
	return normal
}
