package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/proc"
)

// EndBy implements adapters.Ender. An interrupted `codex exec` records that its turn was
// aborted. A terminated one records nothing and leaves a stale lock (0.169.0).
func (a *Adapter) EndBy(adapters.Session) ([]proc.Signal, error) {
	return []proc.Signal{proc.Interrupt, proc.Terminate}, nil
}

// CanStop implements adapters.StopChecker: of the servers only the shared daemon has a socket.
func (a *Adapter) CanStop(_ context.Context, s adapters.Session) error {
	p, err := a.Table.Find(s.Process.PID)
	if err != nil || p.Identity != s.Process {
		return fmt.Errorf("process %d has ended", s.Process.PID)
	}
	if h := inspect(a.Table, p); h == nil || !h.daemon {
		return errors.New("only Codex's daemon takes orders from others; interrupt the turn in its own program")
	}
	return nil
}

// Stop implements adapters.Stopper for threads of the shared daemon, by turn/interrupt
// (0.169.0). The daemon continues to run, and keeps the thread.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	if len(s.Files) == 0 {
		return errors.New("its rollout is not known, so its turn is not known either")
	}
	turn, err := openTurn(ctx, s.Files[0])
	if err != nil {
		return err
	}
	if turn == "" {
		return nil // over already
	}
	socket := socketOf(s.Files[0])
	limited, cancel := context.WithTimeout(ctx, daemonLimit)
	defer cancel()
	c, err := connect(limited, socket, nil)
	if err == nil {
		defer c.close()
		_, err = c.call(limited, "turn/interrupt", map[string]any{"threadId": s.ID, "turnId": turn})
	}
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it did not respond within %v", daemonLimit)
	}
	if err != nil {
		return fmt.Errorf("the Codex daemon at %s did not interrupt it: %w; press Esc %s", socket, err, s.Where())
	}
	return nil
}

// socketOf returns the path of the daemon's socket in the root that a rollout is in.
func socketOf(rollout string) string { return socketIn(cmp.Or(rootOf(rollout), filepath.Dir(rollout))) }

// socketIn returns the path of the daemon's socket in a root.
func socketIn(root string) string {
	return filepath.Join(root, "app-server-control", "app-server-control.sock")
}

// openTurn returns the id of the open turn of a rollout; empty: none.
func openTurn(ctx context.Context, rollout string) (string, error) {
	if compressed(rollout) {
		return "", nil // compressed only when it ended long ago
	}
	turn := ""
	err := agentfile.LastLines(ctx, rollout, func(line []byte) bool {
		payload := agentfile.Get(line, "payload")
		switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
		case "task_started", "turn_started":
			turn = string(agentfile.Text(agentfile.Get(payload, "turn_id")))
			return false
		case "task_complete", "turn_complete", "turn_aborted":
			return false
		}
		return true
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w; is the thread archived?", err)
	case err != nil:
		return "", adapters.Unreadable(rollout, err)
	}
	return turn, nil
}
