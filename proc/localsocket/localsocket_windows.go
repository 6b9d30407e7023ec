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

// Peer returns ErrUnsupported.
func Peer(net.Conn) (p proc.Process, uid int, err error) { return p, -1, ErrUnsupported }

// Listener returns ErrUnsupported.
func Listener(context.Context, string) (proc.Identity, error) { return proc.Identity{}, ErrUnsupported }
