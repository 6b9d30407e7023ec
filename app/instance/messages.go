package instance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	maxMessage  = 4 << 10
	readLimit   = 2 * time.Second
	answerLimit = 5 * time.Second
	// A process that has just claimed its place may need a moment until it
	// listens, and one that is about to end may still hold it.
	dialLimit = 2 * time.Second
	dialPause = 20 * time.Millisecond
	taken     = "taken\n"
)

// Send hands msg to the process that holds the claim on name and returns once
// that process has taken it. It returns ErrNotRunning if there is none. A
// holder that does not answer costs at most 7 s.
func Send(name string, msg Message) error {
	if err := checkName(name); err != nil {
		return err
	}
	data, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	if len(data) >= maxMessage {
		return fmt.Errorf("message to %s: %d bytes are too many", name, len(data))
	}
	conn, err := dial(name)
	if err != nil {
		return fmt.Errorf("message to %s: %w", name, err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(answerLimit))
	if _, err := conn.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("message to %s: %w", name, err)
	}
	answer, err := bufio.NewReader(io.LimitReader(conn, maxMessage)).ReadString('\n')
	if err != nil {
		return fmt.Errorf("message to %s: it did not take the message: %w", name, err)
	}
	if answer != taken {
		return fmt.Errorf("message to %s: unexpected answer %q", name, answer)
	}
	return nil
}

func dial(name string) (net.Conn, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	path, err := socketPath(dir, name)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(dialLimit); ; <-time.After(dialPause) {
		conn, err := net.DialTimeout("unix", path, time.Until(end))
		if err == nil {
			return conn, nil
		}
		held, lockErr := held(dir, name)
		if lockErr != nil {
			return nil, errors.Join(err, lockErr)
		}
		if !held {
			return nil, ErrNotRunning
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("it is running, and does not listen: %w", err)
		}
	}
}

func (i *Instance) serve() {
	defer i.handlers.Done()
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
			// Out of descriptors, most likely: the claim stands, so go on.
			select {
			case <-time.After(dialPause):
			case <-i.closed:
			}
			continue
		}
		// One at a time keeps the order; readLimit bounds what a silent
		// peer can cost the next one.
		i.handle(conn)
	}
}

func (i *Instance) handle(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(readLimit))
	line, err := bufio.NewReader(io.LimitReader(conn, maxMessage)).ReadBytes('\n')
	if err != nil {
		return
	}
	var msg Message
	if json.Unmarshal(line, &msg) != nil || msg.Verb == "" {
		return
	}
	select {
	case i.messages <- msg:
		_ = conn.SetWriteDeadline(time.Now().Add(readLimit))
		_, _ = io.WriteString(conn, taken)
	case <-time.After(answerLimit):
	case <-i.closed:
	}
}
