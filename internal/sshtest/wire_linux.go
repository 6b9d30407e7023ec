package sshtest

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"rollcall/internal/must"
)

// Wire is a connection to a server that can be frozen: it stays open and carries nothing.
type Wire struct {
	Port int

	mu     sync.Mutex
	frozen bool
	opened int
	thaw   *sync.Cond
}

// NewWire returns a port of loopback that leads to another one until the test ends.
func NewWire(t testing.TB, to int) *Wire {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &Wire{Port: l.Addr().(*net.TCPAddr).Port}
	w.thaw = sync.NewCond(&w.mu)
	t.Cleanup(func() {
		_ = l.Close()
		w.Freeze(false)
	})
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			w.mu.Lock()
			w.opened++
			w.mu.Unlock()
			b, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", to))
			if err != nil {
				_ = a.Close()
				continue
			}
			go w.carry(a, b)
			go w.carry(b, a)
		}
	}()
	return w
}

func (w *Wire) carry(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		for w.frozen {
			w.thaw.Wait()
		}
		w.mu.Unlock()
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

// Opened returns how many connections were opened.
func (w *Wire) Opened() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened
}

// Freeze freezes the wire, or lets it carry again.
func (w *Wire) Freeze(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen = on
	w.thaw.Broadcast()
}
