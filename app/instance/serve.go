package instance

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"
)

// maxRequest is the largest request in bytes: a launch has its arguments and its environment in one.
const maxRequest = 16 << 20

// Request is a request of another process of the user's, which waits for the answer.
type Request struct {
	Line []byte // JSON
	peer *peer

	mu sync.Mutex
}

// Serve claims name as Claim does, but in a folder of the user's, which it creates if it is missing. It calls handle for
// each request, on a separate goroutine, instead of sending it to Messages. The connection is closed when handle returns.
func Serve(dir, name string, handle func(*Request)) (*Instance, error) {
	return claim(func() (string, error) { return makePrivate(dir) }, name, handle)
}

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

// serveRequest reads a request and passes it to the handler.
func (i *Instance) serveRequest(p *peer, handle func(*Request)) {
	if err := checkPeer(p.conn); err != nil {
		return
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(readLimit))
	line, err := bufio.NewReader(io.LimitReader(p.conn, maxRequest)).ReadBytes('\n')
	if err != nil {
		return
	}
	if answer := countsFor(line); answer != nil {
		_, _ = p.conn.Write(answer)
		return
	}
	if i.peers.hold(p) {
		handle(&Request{Line: line, peer: p})
	}
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
// none. The caller closes the answers.
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
		return nil, err
	}
	if err := checkPeer(conn); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("request to %s: %w", name, err)
	}
	a := &Answers{conn: conn, dec: json.NewDecoder(conn)}
	a.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	_ = conn.SetWriteDeadline(time.Now().Add(answerLimit))
	if _, err := conn.Write(append(data, '\n')); err != nil {
		a.Close()
		return nil, fmt.Errorf("request to %s: %w: %w", name, ErrUnanswered, err)
	}
	return a, nil
}

// Next reads the next answer into v. It waits for limit at most; 0: until the other process ends.
func (a *Answers) Next(v any, limit time.Duration) error {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	_ = a.conn.SetReadDeadline(until)
	if err := a.dec.Decode(v); err != nil {
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
