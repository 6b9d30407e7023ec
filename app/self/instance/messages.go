package instance

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"rollcall/proc"
)

const (
	maxMessage  = 4 << 10
	readLimit   = 2 * time.Second
	answerLimit = 5 * time.Second
	// A process that has just claimed its name may need a moment until it listens, and
	// one that is about to end may still hold the claim.
	dialLimit = 2 * time.Second
	dialPause = 20 * time.Millisecond
	taken     = "taken\n"
	refused   = "refused\n"
)

// ErrRefused is returned for a message that the other process does not accept, because it
// does not know the verb.
var ErrRefused = errors.New("it does not know this request")

// ErrElevated is returned on Windows if the other process has administrator rights and this one has none. Nothing was
// sent.
var ErrElevated = errors.New("it runs with administrator rights and refuses programs without them; " +
	"run this as administrator too, or end it and start it without administrator rights")

// errDropped is returned when the other process closed the connection: too many
// others came after it.
var errDropped = errors.New("it did not accept the message")

// sendTries is how many times a message is sent if its connection is dropped.
const sendTries = 5

// Send hands msg to the process that holds the claim on name and returns once
// that process has received it. Its errors are ErrNotRunning, ErrRefused and those of
// the connection. A holder that does not answer costs at most 7 s.
func Send(name string, msg Message) error {
	if err := checkName(name); err != nil {
		return err
	}
	data, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	if len(data) >= maxMessage {
		return fmt.Errorf("message to %s: it is too large (%d bytes)", name, len(data))
	}
	until := time.Now().Add(answerLimit)
	for range sendTries {
		err = sendOnce(name, append(data, '\n'), until)
		if !errors.Is(err, errDropped) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("message to %s: %w", name, err)
	}
	return nil
}

func sendOnce(name string, line []byte, until time.Time) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	conn, err := dial(dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(until)
	_, _ = conn.Write(line) // where that fails, the answer may have the reason
	answer, err := bufio.NewReader(io.LimitReader(conn, maxMessage)).ReadString('\n')
	var timeout net.Error
	var no rejection
	switch {
	case err != nil && errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("it did not accept the message in time: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %w", errDropped, err)
	case answer == refused:
		return ErrRefused
	case json.Unmarshal([]byte(answer), &no) == nil && no.err() != nil:
		return no.err()
	case answer != taken:
		return fmt.Errorf("unexpected answer %q", answer)
	}
	return nil
}

func dial(dir, name string) (net.Conn, error) {
	if held, err := held(dir, name); err != nil || !held {
		return nil, cmp.Or(err, ErrNotRunning)
	}
	for end := time.Now().Add(dialLimit); ; <-time.After(dialPause) {
		conn, err := connect(dir, name, end)
		if err == nil {
			_, err = checkPeer(conn, sinceBoot())
			if err == nil {
				return conn, nil
			}
			_ = conn.Close()
			if !errors.Is(err, proc.ErrGone) {
				return nil, err
			}
		}
		held, lockErr := held(dir, name)
		if lockErr != nil {
			return nil, errors.Join(err, lockErr)
		}
		if !held {
			return nil, ErrNotRunning
		}
		switch {
		case time.Now().Before(end):
		case errors.Is(err, ErrElevated):
			return nil, ErrElevated
		default:
			return nil, fmt.Errorf("it is running, but does not listen: %w: %w", ErrUnanswered, err)
		}
	}
}

// maxPeers is the largest number of open connections. When there are more, the one that has
// been open longest is closed: a real message takes milliseconds.
const maxPeers = 64

// peers holds the open connections, the oldest first.
type peers struct {
	mu     sync.Mutex
	list   []*peer
	held   int // the number of connections in list that are held; see Request.Hold
	closed bool
}

// peer is one connection. gone is closed when the connection is dropped.
type peer struct {
	conn  net.Conn
	since uint64 // when it was accepted, from sinceBoot
	gone  chan struct{}
	once  sync.Once
	held  bool // guarded by peers.mu
}

func (p *peer) drop() {
	p.once.Do(func() {
		close(p.gone)
		_ = p.conn.Close()
	})
}

// add adds a connection, and drops the oldest one if there are too many.
func (s *peers) add(conn net.Conn) *peer {
	p := &peer{conn: conn, since: sinceBoot(), gone: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, p)
	if s.closed {
		p.drop()
	}
	if len(s.list)-s.held > maxPeers {
		oldest := slices.IndexFunc(s.list, func(p *peer) bool { return !p.held })
		s.list[oldest].drop()
		s.list = slices.Delete(s.list, oldest, oldest+1)
	}
	return p
}

// remove closes a connection that is no longer needed.
func (s *peers) remove(p *peer) {
	p.drop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, p); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
		if p.held {
			s.held--
		}
	}
}

// dropAll closes all connections, also those to come.
func (s *peers) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.list {
		p.drop()
	}
}

func (i *Instance) serve() {
	for {
		conn, err := i.listener.Accept()
		select {
		case <-i.closed:
			if err == nil {
				_ = conn.Close()
			}
			return
		default:
		}
		if err != nil {
			// The process has most likely run out of file descriptors. The claim is still valid, so Accept is tried again.
			select {
			case <-time.After(dialPause):
			case <-i.closed:
			}
			continue
		}
		p := i.peers.add(conn)
		i.handlers.Go(func() {
			defer i.peers.remove(p)
			i.receive(p)
		})
	}
}

// receive reads what another process sends, and handles it.
func (i *Instance) receive(p *peer) {
	limit := int64(maxMessage)
	if i.handle != nil {
		limit = maxRequest
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(readLimit))
	reader := bufio.NewReader(io.LimitReader(p.conn, limit))
	if _, err := reader.Peek(1); err != nil { // connections that say nothing must cost little
		return
	}
	process, err := checkPeer(p.conn, p.since)
	if err != nil {
		i.refuse(p, process, err)
		return
	}
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(answerLimit + readLimit))
	if answer := countsFor(line); answer != nil {
		_, _ = p.conn.Write(answer)
		return
	}
	switch {
	case i.handle == nil:
		i.takeMessage(p, line)
	case i.peers.hold(p):
		i.handle(&Request{Line: line, Process: process, peer: p, instance: i})
	}
}

// refuse tells a process that it is refused, and logs it.
func (i *Instance) refuse(p *peer, process proc.Process, reason error) {
	if errors.Is(reason, proc.ErrGone) || errors.Is(reason, net.ErrClosed) {
		return // it waits for no answer
	}
	i.refusals.add(i.name, process, reason)
	line, _ := json.Marshal(rejection{reason.Error(), errors.Is(reason, ErrOutside)})
	_ = p.conn.SetWriteDeadline(time.Now().Add(answerLimit))
	_, _ = p.conn.Write(append(line, '\n'))
}

func (i *Instance) takeMessage(p *peer, line []byte) {
	msg, ok := parseMessage(line)
	if !ok {
		_, _ = io.WriteString(p.conn, refused)
		return
	}
	select {
	case i.messages <- msg:
		_, _ = io.WriteString(p.conn, taken)
	case <-time.After(answerLimit):
	case <-p.gone:
	case <-i.closed:
	}
}

// parseMessage parses a message. It returns an error for other text, and for an unknown
// verb.
func parseMessage(line []byte) (Message, bool) {
	var msg Message
	if json.Unmarshal(line, &msg) != nil || !slices.Contains(verbs, msg.Verb) {
		return Message{}, false
	}
	return msg, true
}
