package kit

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

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

// PeerClient returns a client for a program of this machine. Before anything is sent over a connection, serves checks who listens at
// its address; its error becomes a ListenerError with the text unsent. Redirects are not followed, and no proxy is used. dial and
// header limit the time for a connection and for the beginning of an answer.
func PeerClient(unsent string, dial, header time.Duration, serves func(netip.AddrPort) error) *http.Client {
	connect := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: dial}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		to, ok := conn.RemoteAddr().(*net.TCPAddr)
		if !ok {
			err = fmt.Errorf("%s is not an address with a port", conn.RemoteAddr())
		} else {
			err = serves(to.AddrPort())
		}
		if err != nil {
			_ = conn.Close()
			return nil, &ListenerError{Unsent: unsent, Err: err}
		}
		return conn, nil
	}
	return &http.Client{
		Transport:     &http.Transport{Proxy: nil, DialContext: connect, DisableKeepAlives: true, ResponseHeaderTimeout: header},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
