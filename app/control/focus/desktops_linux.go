package focus

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"

	"rollcall/proc/localsocket"
)

// Here returns the desktop of the environment, or nil if its windows cannot be known.
func Here() Desktop {
	return cmp.Or(fromSway(), fromHyprland(), fromX11())
}

// Desktops returns the desktops of the environment on which windows can be raised, the one that reports most windows first.
func Desktops() []Desktop {
	return slices.DeleteFunc([]Desktop{fromSway(), fromHyprland(), fromKWin(), fromX11()}, func(d Desktop) bool { return d == nil })
}

func fromX11() Desktop {
	if display := os.Getenv("DISPLAY"); display != "" {
		return OnX11(display)
	}
	return nil
}

func fromSway() Desktop {
	if socket := os.Getenv("SWAYSOCK"); socket != "" {
		return OnSway(socket)
	}
	return nil
}

func fromHyprland() Desktop {
	if instance := os.Getenv("HYPRLAND_INSTANCE_SIGNATURE"); instance != "" {
		return OnHyprland(hyprlandSocket(os.Getenv("XDG_RUNTIME_DIR"), instance))
	}
	return nil
}

// dial connects to a socket of this user. The connection ends with ctx, and answerLimit after dial at the latest.
func dial(ctx context.Context, path string) (net.Conn, error) {
	if err := localsocket.Check(path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	if err := conn.SetDeadline(end); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// checkRaised returns an error unless a desktop reports that a window has the focus.
func checkRaised(ctx context.Context, d Desktop, w Window) error {
	now, ok, err := d.Active(ctx)
	if err == nil && (!ok || now != w) {
		err = fmt.Errorf("%s did not give the window the focus", d.Name())
	}
	return err
}
