package localsocket

import "context"

// Check returns ErrUnsupported.
func Check(string) error { return ErrUnsupported }

// Listener returns ErrUnsupported.
func Listener(context.Context, string) (int, error) { return 0, ErrUnsupported }
