//go:build linux || darwin

package focus

import (
	"context"
	"fmt"
	"io"
	"net"

	"rollcall/proc/localsocket"
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

// readUpTo reads to the end, or fails after limit bytes.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("the answer is longer than %d MB", limit>>20)
	}
	return b, err
}
