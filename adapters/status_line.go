package adapters

import "errors"

// StatusLine is what an agent hands to the command that its user entered as the agent's status line.
type StatusLine struct {
	Model, Folder string
	Limits        []Limit // of the session's home; none: the agent said nothing of limits
}

// ErrNotStatusLine is wrapped by errors of StatusLine.
var ErrNotStatusLine = errors.New("it is not what an agent hands to its status line")

// StatusLiner is implemented by adapters whose agent runs a command of the user's for its status line.
type StatusLiner interface {
	// StatusLine reads what the agent wrote to the command's standard input. Its texts are as the agent wrote them.
	StatusLine(input []byte) (StatusLine, error)
}
