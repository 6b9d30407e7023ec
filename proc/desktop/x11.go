//go:build linux

package desktop

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"os"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

func init() { xgb.Logger = log.New(io.Discard, "", 0) } // xgb logs errors that the callers handle

// x11 reports and raises the windows of an X server.
type x11 struct {
	display string
	busy    chan struct{} // holds a token while a question is open: an X server may hang
}

// xconn is a connection to an X server, for one question. One goroutine uses it.
type xconn struct {
	*xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom
}

// OnX11 returns the desktop of an X server. The desktop connects at each question.
func OnX11(display string) Desktop { return &x11{display, make(chan struct{}, 1)} }

// ask calls f with a new connection, on its own goroutine. A server that hangs blocks one goroutine at most. No connection is kept: an X server limits the
// number of its clients, and sends each of them events, which Rollcall never reads.
func ask[T any](ctx context.Context, x *x11, f func(*xconn) (T, error)) (T, error) {
	var none T
	select {
	case x.busy <- struct{}{}:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() { <-x.busy }()
		conn, err := xgb.NewConnDisplay(x.display)
		if err != nil {
			answers <- answer{err: err}
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, conn.Close)() // so that f ends if the server hangs
		v, err := f(&xconn{conn, xproto.Setup(conn).DefaultScreen(conn).Root, map[string]xproto.Atom{}})
		answers <- answer{v, err}
	}()
	select {
	case a := <-answers:
		return a.v, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (x *xconn) atom(name string) (xproto.Atom, error) {
	if a, ok := x.atoms[name]; ok {
		return a, nil
	}
	reply, err := xproto.InternAtom(x.Conn, true, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	x.atoms[name] = reply.Atom
	return reply.Atom, nil
}

// property returns the value of a window's property, of at most 16 KB; empty: it has none.
func (x *xconn) property(w xproto.Window, name string) ([]byte, error) {
	a, err := x.atom(name)
	if err != nil || a == 0 {
		return nil, err
	}
	reply, err := xproto.GetProperty(x.Conn, false, w, a, xproto.GetPropertyTypeAny, 0, 4096).Reply()
	if err != nil {
		return nil, err
	}
	return reply.Value, nil
}

// numbers returns the 32-bit numbers of a property.
func (x *xconn) numbers(w xproto.Window, name string) ([]uint32, error) {
	value, err := x.property(w, name)
	var out []uint32
	for ; len(value) >= 4; value = value[4:] {
		out = append(out, binary.LittleEndian.Uint32(value)) // xgb asks the server for this byte order
	}
	return out, err
}

// owner returns the pid of the process that has a window; 0 if it is not known or the process is on another machine.
func (x *xconn) owner(w xproto.Window) (int, error) {
	pids, err := x.numbers(w, "_NET_WM_PID")
	if err != nil || len(pids) == 0 {
		return 0, err
	}
	machine, err := x.property(w, "WM_CLIENT_MACHINE")
	if err != nil {
		return 0, err
	}
	if host, err := os.Hostname(); err != nil || len(machine) > 0 && string(machine) != host && string(machine) != "localhost" {
		return 0, nil
	}
	return int(pids[0]), nil
}

// Name implements Desktop.
func (x *x11) Name() string { return X11 }

// Active implements Desktop.
func (x *x11) Active(ctx context.Context) (Window, bool, error) {
	w, err := ask(ctx, x, func(x *xconn) (Window, error) {
		active, err := x.numbers(x.root, "_NET_ACTIVE_WINDOW")
		if err != nil || len(active) == 0 || active[0] == 0 {
			return Window{}, err
		}
		pid, err := x.owner(xproto.Window(active[0]))
		return Window{ID: uint64(active[0]), PID: pid}, err
	})
	return w, w.PID != 0, err
}

// maxWindows is far above the number of windows that people have. The windows beyond it are ignored.
const maxWindows = 4096

// Windows implements Desktop.
func (x *x11) Windows(ctx context.Context) ([]Window, error) {
	return ask(ctx, x, func(x *xconn) ([]Window, error) {
		all, err := x.numbers(x.root, "_NET_CLIENT_LIST")
		if err != nil {
			return nil, err
		}
		var out []Window
		for _, w := range all[:min(len(all), maxWindows)] {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			pid, err := x.owner(xproto.Window(w))
			if err == nil && pid != 0 && !x.isPanelOrDesktop(xproto.Window(w)) { // a window may have been closed meanwhile
				title, _ := x.property(xproto.Window(w), "_NET_WM_NAME")
				out = append(out, Window{ID: uint64(w), PID: pid, Title: string(title)})
			}
		}
		return out, nil
	})
}

// isPanelOrDesktop reports whether a window is a panel or the background of the desktop. Their windows do not count, since the programs that the user starts
// from them have them as ancestors.
func (x *xconn) isPanelOrDesktop(w xproto.Window) bool {
	kinds, err := x.numbers(w, "_NET_WM_WINDOW_TYPE")
	if err != nil {
		return false
	}
	for _, name := range []string{"_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP"} {
		if a, err := x.atom(name); err == nil && a != 0 && slices.Contains(kinds, uint32(a)) {
			return true
		}
	}
	return false
}
