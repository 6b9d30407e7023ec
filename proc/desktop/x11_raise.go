//go:build linux

package desktop

import (
	"context"
	"errors"
	"time"

	"rollcall/bounded"

	"github.com/jezek/xgb/xproto"
)

const (
	// raiseLimit is how long a window manager may take to give a window the focus. Openbox, xfwm4 and kwin_x11 take 10 ms.
	raiseLimit = 1500 * time.Millisecond
	raisePause = 10 * time.Millisecond
	// fromPager is the source indication of a request that the user made in another program (EWMH). Window managers obey it
	// although this program does not have the focus.
	fromPager = 2
)

var (
	errNoWindowManager = errors.New("no window manager that raises windows for other programs runs on this display")
	errNotRaised       = errors.New("the window manager did not give the window the focus")
	errNoTime          = errors.New("the X server did not report its time")
)

// Raise implements Desktop, by a message _NET_ACTIVE_WINDOW to the root window.
func (x *x11) Raise(ctx context.Context, w Window) error {
	ctx, cancel := context.WithTimeout(ctx, raiseLimit)
	defer cancel()
	_, err := ask(ctx, x, func(x *xconn) (struct{}, error) { return struct{}{}, x.raise(ctx, w) })
	if errors.Is(err, context.DeadlineExceeded) {
		return errNotRaised
	}
	return err
}

func (x *xconn) raise(ctx context.Context, w Window) error {
	if pid, err := x.owner(xproto.Window(w.ID)); err != nil || pid != w.PID { // its number may belong to another window now
		return errors.New("the window was closed")
	}
	kind, err := x.atom("_NET_ACTIVE_WINDOW")
	if err != nil {
		return err
	}
	if kind == 0 {
		return errNoWindowManager
	}
	at, err := x.serverTime(ctx)
	if err != nil {
		return err
	}
	active, err := x.numbers(x.root, "_NET_ACTIVE_WINDOW")
	if err != nil {
		return err
	}
	data := []uint32{fromPager, uint32(at), 0, 0, 0}
	if len(active) > 0 {
		data[2] = active[0]
	}
	event := xproto.ClientMessageEvent{Format: 32, Window: xproto.Window(w.ID), Type: kind, Data: xproto.ClientMessageDataUnionData32New(data)}
	const mask = xproto.EventMaskSubstructureNotify | xproto.EventMaskSubstructureRedirect
	if err := xproto.SendEventChecked(x.Conn, false, x.root, mask, string(event.Bytes())).Check(); err != nil {
		return err
	}
	return x.waitActive(ctx, w)
}

// waitActive returns once a window has the focus, or with an error once ctx is done.
func (x *xconn) waitActive(ctx context.Context, w Window) error {
	for {
		active, err := x.numbers(x.root, "_NET_ACTIVE_WINDOW")
		if err != nil {
			return err
		}
		if len(active) > 0 && uint64(active[0]) == w.ID {
			return nil
		}
		if bounded.Wait(ctx, raisePause) != nil {
			return errNotRaised
		}
	}
}

// serverTime returns the current time of the X server. The server reports it when a property of an invisible window is
// changed. Window managers ignore requests that are older than the user's last action.
func (x *xconn) serverTime(ctx context.Context) (xproto.Timestamp, error) {
	own, err := xproto.NewWindowId(x.Conn)
	if err != nil {
		return 0, err
	}
	err = xproto.CreateWindowChecked(x.Conn, 0, own, x.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, 0, xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange}).Check()
	if err != nil {
		return 0, err
	}
	defer xproto.DestroyWindow(x.Conn, own)
	err = xproto.ChangePropertyChecked(x.Conn, xproto.PropModeReplace, own, xproto.AtomWmName, xproto.AtomString, 8, 0, nil).Check()
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		event, refused := x.PollForEvent()
		switch {
		case refused != nil:
			return 0, refused
		case event == nil:
			_ = bounded.Wait(ctx, time.Millisecond)
			continue
		}
		if change, ok := event.(xproto.PropertyNotifyEvent); ok && change.Window == own {
			return change.Time, nil
		}
	}
	return 0, errNoTime
}
