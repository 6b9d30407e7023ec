package adapters

import "context"

// ProgramRow is a session that a program of the user's lists, with the process that the program names for it. The process is not checked.
type ProgramRow struct {
	Session Session
	PID     int
	Start   uint64 // as proc.Identity has it; 0: the program did not say
}

// ProgramRows runs the program of an Unread and returns its rows. The error says why they are not complete.
type ProgramRows func(ctx context.Context, u *Unread) ([]ProgramRow, error)
