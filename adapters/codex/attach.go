package codex

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters"
)

// attachLimit is how long the daemon may take to say that it has a thread.
const attachLimit = 2 * time.Second

// Attach implements adapters.Attacher for threads that the shared daemon has loaded: `codex resume ID` joins them (0.169.0). Another
// process would refuse a thread that it did not open, so nothing else can be attached to.
func (a *Adapter) Attach(ctx context.Context, program string, s adapters.Session) (adapters.Command, error) {
	if len(s.Files) == 0 || !s.Shared {
		return adapters.Command{}, fmt.Errorf("%w: only threads of Codex's daemon can", adapters.ErrNoAttach)
	}
	socket := socketOf(s.Files[0])
	own := cmp.Or(a.env("CODEX_HOME"), filepath.Join(a.home, ".codex"))
	if socket != socketOf(filepath.Join(own, "sessions", "x", "x", "x", "x")) {
		return adapters.Command{}, fmt.Errorf("%w: it is in another home of Codex", adapters.ErrNoAttach)
	}
	ctx, cancel := context.WithTimeout(ctx, attachLimit)
	defer cancel()
	c, err := connect(ctx, socket)
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon can't be asked: %w", adapters.ErrNoAttach, err)
	}
	defer func() { _ = c.conn.CloseNow() }()
	threads, err := c.list(ctx, []string{s.ID})
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon can't be asked: %w", adapters.ErrNoAttach, err)
	}
	if t, ok := threads[s.ID]; !ok || t.Type == "notLoaded" {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon has not loaded it", adapters.ErrNoAttach)
	}
	return adapters.Command{Path: program, Args: []string{"resume", s.ID}, Session: s.ID}, nil
}
