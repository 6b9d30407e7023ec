//go:build linux

package focus

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"os"
	"slices"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

func init() { xgb.Logger = log.New(io.Discard, "", 0) } // it reports what its callers handle

// x11 tells of the windows of an X server.
type x11 struct {
	display string
	busy    chan struct{} // holds a token unless a question is open: an X server may hang

	mu     sync.Mutex
	conn   *xgb.Conn
	atoms  map[string]xproto.Atom
	closed bool // by Close: there are no more connections
}

var errClosed = errors.New("the desktop was closed")

// OnX11 returns the desktop of an X server. It connects when it is asked.
func OnX11(display string) Desktop {
	x := &x11{display: display, busy: make(chan struct{}, 1)}
	x.busy <- struct{}{}
	return x
}

// Close implements Desktop.
func (x *x11) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.dropLocked()
}

// drop ends the connection. The next question makes a new one.
func (x *x11) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dropLocked()
}

func (x *x11) dropLocked() {
	if x.conn != nil {
		x.conn.Close()
		x.conn = nil
	}
}

// ask calls f with the connection, on a goroutine of its own. A server that hangs holds up one goroutine at most.
func ask[T any](ctx context.Context, x *x11, f func(*xgb.Conn, xproto.Window) (T, error)) (T, error) {
	var none T
	select {
	case <-x.busy:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() { x.busy <- struct{}{} }()
		conn, root, err := x.connect()
		if err != nil {
			answers <- answer{err: err}
			return
		}
		v, err := f(conn, root)
		var refused xgb.Error
		if err != nil && !errors.As(err, &refused) { // the connection is gone, not only a window
			x.drop()
		}
		answers <- answer{v, err}
	}()
	select {
	case a := <-answers:
		return a.v, a.err
	case <-ctx.Done():
		x.drop() // so that f ends, if the server hangs
		return none, ctx.Err()
	}
}

// connect returns the connection, which it makes if there is none. The caller holds the token of busy. It does not hold
// mu meanwhile: a server that hangs must not hold up Close.
func (x *x11) connect() (*xgb.Conn, xproto.Window, error) {
	x.mu.Lock()
	conn, closed := x.conn, x.closed
	x.mu.Unlock()
	if closed {
		return nil, 0, errClosed
	}
	if conn == nil {
		var err error
		if conn, err = xgb.NewConnDisplay(x.display); err != nil {
			return nil, 0, err
		}
		if !x.keep(conn) {
			conn.Close()
			return nil, 0, errClosed
		}
	}
	return conn, xproto.Setup(conn).DefaultScreen(conn).Root, nil
}

// keep stores a new connection, unless Close was called meanwhile.
func (x *x11) keep(conn *xgb.Conn) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false
	}
	x.conn, x.atoms = conn, map[string]xproto.Atom{}
	return true
}

func (x *x11) atom(conn *xgb.Conn, name string) (xproto.Atom, error) {
	x.mu.Lock()
	a, ok := x.atoms[name]
	x.mu.Unlock()
	if ok {
		return a, nil
	}
	reply, err := xproto.InternAtom(conn, true, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.atoms != nil && reply.Atom != 0 {
		x.atoms[name] = reply.Atom
	}
	return reply.Atom, nil
}

// property returns the value of a window's property, of at most 16 KB; empty: it has none.
func (x *x11) property(conn *xgb.Conn, w xproto.Window, name string) ([]byte, error) {
	a, err := x.atom(conn, name)
	if err != nil || a == 0 {
		return nil, err
	}
	reply, err := xproto.GetProperty(conn, false, w, a, xproto.GetPropertyTypeAny, 0, 4096).Reply()
	if err != nil {
		return nil, err
	}
	return reply.Value, nil
}

// numbers returns the 32-bit numbers of a property.
func (x *x11) numbers(conn *xgb.Conn, w xproto.Window, name string) ([]uint32, error) {
	value, err := x.property(conn, w, name)
	var out []uint32
	for ; len(value) >= 4; value = value[4:] {
		out = append(out, binary.LittleEndian.Uint32(value)) // xgb asks for this order
	}
	return out, err
}

// owner returns the pid of the process that has a window; 0: none of this machine that is known.
func (x *x11) owner(conn *xgb.Conn, w xproto.Window) (int, error) {
	pids, err := x.numbers(conn, w, "_NET_WM_PID")
	if err != nil || len(pids) == 0 {
		return 0, err
	}
	machine, err := x.property(conn, w, "WM_CLIENT_MACHINE")
	if err != nil {
		return 0, err
	}
	if host, err := os.Hostname(); err != nil || len(machine) > 0 && string(machine) != host && string(machine) != "localhost" {
		return 0, nil
	}
	return int(pids[0]), nil
}

// fresh closes the connection, unless a question is open. Each X client is sent events that this one never reads.
func (x *x11) fresh(ctx context.Context) {
	select {
	case <-x.busy:
		x.drop()
		x.busy <- struct{}{}
	case <-ctx.Done():
	}
}

// Name implements Desktop.
func (x *x11) Name() string { return "X11" }

// Active implements Desktop.
func (x *x11) Active(ctx context.Context) (Window, bool, error) {
	x.fresh(ctx)
	w, err := ask(ctx, x, func(conn *xgb.Conn, root xproto.Window) (Window, error) {
		active, err := x.numbers(conn, root, "_NET_ACTIVE_WINDOW")
		if err != nil || len(active) == 0 || active[0] == 0 {
			return Window{}, err
		}
		pid, err := x.owner(conn, xproto.Window(active[0]))
		return Window{ID: uint64(active[0]), PID: pid}, err
	})
	return w, w.PID != 0, err
}

// maxWindows is far above the number of windows that people have. The rest is not looked at.
const maxWindows = 4096

// Windows implements Desktop.
func (x *x11) Windows(ctx context.Context) ([]Window, error) {
	return ask(ctx, x, func(conn *xgb.Conn, root xproto.Window) ([]Window, error) {
		defer x.drop() // windows are asked for now and then, and the X server bounds its clients
		all, err := x.numbers(conn, root, "_NET_CLIENT_LIST")
		if err != nil {
			return nil, err
		}
		var out []Window
		for _, w := range all[:min(len(all), maxWindows)] {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			pid, err := x.owner(conn, xproto.Window(w))
			if err == nil && pid != 0 && !x.isFurniture(conn, xproto.Window(w)) { // a window may be gone meanwhile
				out = append(out, Window{ID: uint64(w), PID: pid})
			}
		}
		return out, nil
	})
}

// isFurniture reports whether a window is a panel or the background of the desktop. What they start has them as ancestors.
func (x *x11) isFurniture(conn *xgb.Conn, w xproto.Window) bool {
	kinds, err := x.numbers(conn, w, "_NET_WM_WINDOW_TYPE")
	if err != nil {
		return false
	}
	for _, name := range []string{"_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP"} {
		if a, err := x.atom(conn, name); err == nil && a != 0 && slices.Contains(kinds, uint32(a)) {
			return true
		}
	}
	return false
}
