package focus_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app/focus"
)

// Close does not wait for a server that accepts connections and never answers.
func TestCloseWhileTheServerHangs(t *testing.T) {
	display := filepath.Join(t.TempDir(), "x:0")
	server, err := net.Listen("unix", display)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	x := focus.OnX11(display)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, _, err := x.Active(ctx)
		asked <- err
	}()
	conn, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the client's greeting: it now waits for the answer
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		x.Close()
	}()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("Close waits for the server")
	}
	cancel()
	if err := <-asked; err == nil {
		t.Error("a server that does not answer told of a window")
	}
	_ = conn.Close()
	if _, _, err := x.Active(t.Context()); err == nil {
		t.Error("a closed desktop connected again")
	}
}

// sockets returns how many sockets this process has open.
func sockets(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
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
		x := focus.OnX11(s.Display()) // as for each plan; it is not closed
		if _, err := x.Windows(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the end of the connections", func() bool { return sockets(t) <= before })
}
