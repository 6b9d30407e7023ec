package adapters

import "context"

// ProgramRow is a session that a program of the user's lists, with the process that the program names for it. The process is not checked.
type ProgramRow struct {
	Session Session
	PID     int
	Start   uint64 // as proc.Identity has it; 0: the program did not say
}

// Programs runs the programs that the user entered for an Unread, of which each speaks the stream of docs/adapters-of-others.md.
type Programs interface {
	// Rows returns the sessions that the program of rows lists. The error says why they are not complete.
	Rows(ctx context.Context, u *Unread) ([]ProgramRow, error)
	// Requests returns what the program of requests lists, for all sessions. An error says why that can't be used.
	Requests(ctx context.Context, u *Unread) ([]Request, error)
	// Answer gives the program of answer a decision on r. Its errors are those of Answerer.
	Answer(ctx context.Context, u *Unread, r *Request, d Decision) (Result, error)
}
