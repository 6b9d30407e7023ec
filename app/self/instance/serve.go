package instance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"rollcall/proc"
)

// maxRequest is the largest request in bytes: a launch has its arguments and its environment in one.
const maxRequest = 16 << 20

// Request is a request of another process of the user's, which waits for the answer.
type Request struct {
	Line []byte // JSON
	// Process has made the request. It is zero on macOS and Windows, where it is not known. It may have ended.
	Process proc.Process

	peer     *peer
	instance *Instance

	mu sync.Mutex
}

// Serve claims name as Claim does, but in a folder of the user's, which it creates if it is missing. It calls handle for
// each request, on a separate goroutine, instead of sending it to Messages. The connection is closed when handle returns.
func Serve(dir, name string, log *slog.Logger, handle func(*Request)) (*Instance, error) {
	return claim(func() (string, error) { return makePrivate(dir) }, name, log, handle)
}

// Refuse answers with an error instead of what was asked, and logs the reason once.
func (r *Request) Refuse(reason error) { r.instance.refuse(r.peer, r.Process, reason) }

// Answer sends one answer. It may be called several times, from several goroutines.
func (r *Request) Answer(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.peer.conn.SetWriteDeadline(time.Now().Add(answerLimit))
	_, err = r.peer.conn.Write(append(data, '\n'))
	return err
}

// Hold waits until the other process has closed the connection or ended, or until this process closes the instance.
func (r *Request) Hold() {
	_ = r.peer.conn.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, r.peer.conn)
}

// maxHeld is the largest number of requests that are answered at the same time. The connections of further requests are
// closed.
const maxHeld = 256

// hold protects the connection of a complete request from being closed when there are too many connections. It reports
// whether it did so.
func (s *peers) hold(p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.held == maxHeld {
		return false
	}
	s.held++
	p.held = true
	return true
}

// Answers reads the answers that the holder of a claim sends to one request.
type Answers struct {
	conn net.Conn
	dec  *json.Decoder
	stop func() bool
}

// ErrUnanswered reports that the other process received the request, or may have received it, and did not answer.
var ErrUnanswered = errors.New("it did not answer")

// Ask sends a request to the process that holds the claim on name in a folder. Its error is ErrNotRunning if there is
// none, and ErrOutside if that process is in a container or sandbox that this one is not in. The caller closes the answers.
func Ask(ctx context.Context, dir, name string, request any) (*Answers, error) {
	if running, err := Running(dir, name); err != nil || !running {
		return nil, cmp.Or(err, ErrNotRunning)
	}
	data, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if len(data) >= maxRequest {
		return nil, fmt.Errorf("request to %s: it is too large (%d bytes)", name, len(data))
	}
	conn, err := dial(dir, name)
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", name, err)
	}
	a := &Answers{conn: conn, dec: json.NewDecoder(conn)}
	a.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	_ = conn.SetWriteDeadline(time.Now().Add(answerLimit))
	_, _ = conn.Write(append(data, '\n')) // where that fails, Next returns the reason
	return a, nil
}

// Next reads the next answer into v. It waits for limit at most; 0: until the other process ends. Its error is ErrOutside if the other
// process refuses this one because of its container or sandbox.
func (a *Answers) Next(v any, limit time.Duration) error {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	_ = a.conn.SetReadDeadline(until)
	var answer json.RawMessage
	if err := a.dec.Decode(&answer); err != nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	var no rejection
	if json.Unmarshal(answer, &no) == nil && no.Outside {
		return no.err()
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	return nil
}

// Close ends the request.
func (a *Answers) Close() {
	a.stop()
	_ = a.conn.Close()
}

// Running reports whether a process holds the claim on name in a folder, which need not exist.
func Running(dir, name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := makePrivate(dir); err != nil {
		return false, err
	}
	return held(dir, name)
}
