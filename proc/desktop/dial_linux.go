package desktop

import (
	"context"
	"fmt"
	"net"
	"time"

	"rollcall/proc/localsocket"
)

const (
	// answerLimit is how long a desktop may take to answer.
	answerLimit = 2 * time.Second
	// maxAnswer is far above the length of any answer, in bytes.
	maxAnswer = 4 << 20
)

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
	if err == nil && (!ok || !now.Is(w)) {
		err = fmt.Errorf("%s did not give the window the focus", d.Name())
	}
	return err
}
