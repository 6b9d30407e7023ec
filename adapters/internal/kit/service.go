package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Service is an HTTP service of an agent on this machine, which takes and gives JSON.
type Service struct {
	Client *http.Client // of PeerClient
	Base   string       // its address, as Loopback returns it
	// User and Password are sent with each request; no password: none is sent.
	User, Password string
	Token          string // is sent as a bearer's; empty: none is
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4 << 20

// StatusError is the answer of a service that did not do what it was asked for.
type StatusError struct {
	Code int
	Text string // "404 Not Found"
}

func (e *StatusError) Error() string { return "it answered " + e.Text }

// Do sends a request, with content as JSON unless it is nil, and returns the body of the answer. The error is a *StatusError unless the answer is one of success.
func (s *Service) Do(ctx context.Context, method, path string, content any) ([]byte, error) {
	var send io.Reader
	if content != nil {
		b, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Base+path, send)
	if err != nil {
		return nil, err
	}
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Password != "" {
		req.SetBasicAuth(s.User, s.Password)
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		return nil, &StatusError{resp.StatusCode, resp.Status}
	}
	return body, err
}

// WasSent reports whether a request may have reached a program although it failed with err.
func WasSent(err error) bool {
	if _, foreign := errors.AsType[*ListenerError](err); foreign {
		return false
	}
	op, failed := errors.AsType[*net.OpError](err)
	return !failed || op.Op != "dial"
}

// Loopback returns the address of a service that listens on a port, under a name as its command line has it; "" if that is not an address of this machine.
func Loopback(name string, port int) string {
	switch ip := net.ParseIP(name); {
	case name == "" || name == "localhost" || ip != nil && ip.IsUnspecified():
		name = "127.0.0.1"
	case ip == nil || !ip.IsLoopback():
		return ""
	}
	if port <= 0 || port > 65535 {
		return ""
	}
	return "http://" + net.JoinHostPort(name, strconv.Itoa(port))
}
