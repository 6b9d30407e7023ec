package focus_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
	"rollcall/proc/desktop"
)

// TestServerHangs: a question to a server that accepts connections and never answers ends with its context, and so does the next one,
// which makes no second connection.
func TestServerHangs(t *testing.T) {
	display := filepath.Join(t.TempDir(), "x:0")
	server := must.Get(net.Listen("unix", display))(t)
	defer server.Close()
	x := desktop.OnX11(display)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 2)
	for range 2 {
		go func() {
			_, _, err := x.Active(ctx)
			asked <- err
		}()
	}
	conn := must.Get(server.Accept())(t)
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the client's greeting: it now waits for the answer
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := <-asked; !errors.Is(err, context.Canceled) {
			t.Errorf("a server that does not answer: %v", err)
		}
	}
	_ = conn.Close()
	_ = server.(*net.UnixListener).SetDeadline(time.Now())
	if _, err := server.Accept(); err == nil {
		t.Error("the second question connected while the first was open")
	}
	_ = server.Close()
	if _, _, err := x.Active(t.Context()); err == nil {
		t.Error("a server that is gone has a window")
	}
}

// sockets returns how many sockets this process has open.
func sockets(t *testing.T) (n int) {
	t.Helper()
	list := must.Get(os.ReadDir("/proc/self/fd"))(t)
	for _, fd := range list {
		if target, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// TestWindowsKeepsNoConnection: an X server bounds its clients, and a plan may never raise a window.
func TestWindowsKeepsNoConnection(t *testing.T) {
	s := newScreen(t)
	before := sockets(t)
	for range 5 {
		x := desktop.OnX11(s.Display())
		if _, err := x.Windows(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the end of the connections", func() bool { return sockets(t) <= before })
}
