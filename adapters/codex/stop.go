package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/jsonl"
	"rollcall/proc"
)

// EndBy implements adapters.Ender. An interrupted `codex exec` records that its
// turn was aborted; Terminate leaves no trace and a stale lock (0.169.0).
func (a *Adapter) EndBy(adapters.Session) ([]proc.Signal, error) {
	return []proc.Signal{proc.Interrupt, proc.Terminate}, nil
}

// Stop implements adapters.Stopper for threads of the shared daemon, by
// turn/interrupt (0.169.0). The daemon and the thread stay.
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
	c, err := connect(limited, socket)
	if err == nil {
		defer func() { _ = c.conn.CloseNow() }()
		_, err = c.call(limited, "turn/interrupt", map[string]any{"threadId": s.ID, "turnId": turn})
	}
	if err != nil {
		return fmt.Errorf("the Codex daemon at %s did not interrupt it: %w; press Esc in its terminal", socket, err)
	}
	return nil
}

// socketOf returns the path of the daemon's socket in the root that a rollout is in.
func socketOf(rollout string) string {
	root := filepath.Dir(rollout)
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); base == "sessions" || base == "archived_sessions" {
			root = filepath.Dir(dir)
			break
		}
	}
	return filepath.Join(root, "app-server-control", "app-server-control.sock")
}

// openTurn returns the id of the open turn of a rollout; empty: none.
func openTurn(ctx context.Context, rollout string) (string, error) {
	if strings.HasSuffix(rollout, ".zst") {
		return "", nil // compressed only when it ended long ago
	}
	f, err := os.Open(rollout)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w; is the thread archived?", err)
	}
	if err != nil {
		return "", adapters.Unreadable(rollout, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", adapters.Unreadable(rollout, err)
	}
	for back := jsonl.Backward(f, info.Size(), 0).WithContext(ctx); ; {
		line, _, err := back.Prev()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil
		case errors.Is(err, jsonl.ErrTooLong):
			continue
		case err != nil:
			return "", adapters.Unreadable(rollout, err)
		}
		switch payload := jsonl.Get(line, "payload"); string(jsonl.Text(jsonl.Get(payload, "type"))) {
		case "task_started", "turn_started":
			return string(jsonl.Text(jsonl.Get(payload, "turn_id"))), nil
		case "task_complete", "turn_complete", "turn_aborted":
			return "", nil
		}
	}
}
