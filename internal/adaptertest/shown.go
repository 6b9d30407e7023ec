package adaptertest

import (
	"time"

	"rollcall/proc"
)

// Shown is a process table in which each process shows what these fields hold, and nothing else.
type Shown struct {
	proc.Lister
	Line, Variables, Files []string
	Program, Folder        string
}

// Args implements proc.Details.
func (s Shown) Args(proc.Identity) ([]string, error) { return s.Line, nil }

// Exe implements proc.Details.
func (s Shown) Exe(proc.Identity) (string, error) { return s.Program, nil }

// CWD implements proc.Details.
func (s Shown) CWD(proc.Identity) (string, error) { return s.Folder, nil }

// Env implements proc.Details.
func (s Shown) Env(proc.Identity) ([]string, error) { return s.Variables, nil }

// OpenFiles implements proc.Details.
func (s Shown) OpenFiles(proc.Identity) ([]string, error) { return s.Files, nil }

// Made implements proc.Details.
func (s Shown) Made(proc.Process) (time.Time, error) { return time.Time{}, nil }

// Root implements proc.Details.
func (s Shown) Root(proc.Identity) (string, error) { return "", nil }

// OlderTerminal implements proc.Details.
func (s Shown) OlderTerminal(proc.Identity) (bool, error) { return false, nil }

// Find implements proc.Lister: no other process is there.
func (s Shown) Find(int) (proc.Process, error) { return proc.Process{}, proc.ErrGone }

// InnerPIDs implements proc.Details.
func (s Shown) InnerPIDs(proc.Identity) ([]int, error) { return nil, proc.ErrUnsupported }

// RemovedFiles implements proc.Details.
func (s Shown) RemovedFiles(proc.Identity) (map[string]string, error) {
	return nil, proc.ErrUnsupported
}

// Terminal implements proc.Details.
func (s Shown) Terminal(proc.Identity) (string, error) { return "", proc.ErrUnsupported }
