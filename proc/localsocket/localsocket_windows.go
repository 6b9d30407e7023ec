package localsocket

import (
	"context"
	"net"

	"rollcall/proc"
)

// Check returns ErrUnsupported.
func Check(string) error { return ErrUnsupported }

// Dial returns ErrUnsupported.
func Dial(context.Context, string) (net.Conn, error) { return nil, ErrUnsupported }

// Listener returns ErrUnsupported.
func Listener(context.Context, string) (proc.Identity, error) { return proc.Identity{}, ErrUnsupported }
