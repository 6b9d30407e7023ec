package kit

// FormatError reports that a program answered in a form that is not known.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// ListenerError reports that nothing confidential was sent to a program, because it may not be the intended one.
type ListenerError struct {
	Unsent string // the beginning of the text, which names what was not sent: "the token was not sent"
	Err    error
}

func (e *ListenerError) Error() string { return e.Unsent + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ListenerError) Unwrap() error { return e.Err }
