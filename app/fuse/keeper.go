package fuse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"rollcall/app/script"
	"rollcall/app/webhook"
	"rollcall/proc"
)

const (
	scriptLimit  = 120 * time.Second
	webhookLimit = 30 * time.Second
)

// Keeper fires the fuses that expire while the tray runs; those that expired
// before fire at its start. It runs nothing but a timer for the next one.
type Keeper struct {
	fuses  *Fuses
	client *http.Client
	log    *slog.Logger
	fired  func(Fuse)
	firing sync.WaitGroup
}

// NewKeeper makes a keeper. fired, which may be nil, is told of each fuse that
// has fired, with its results, on a goroutine of its own.
func NewKeeper(f *Fuses, log *slog.Logger, fired func(Fuse)) *Keeper {
	if fired == nil {
		fired = func(Fuse) {}
	}
	return &Keeper{fuses: f, client: webhook.Client(webhookLimit), log: log, fired: fired}
}

// Run fires fuses until ctx is done. Scripts that run then are ended.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.firing.Wait()
	changes, err := k.fuses.Changes(ctx)
	if err != nil {
		k.log.Warn("fuses that are set elsewhere are noticed at the next start", "folder", k.fuses.Folder(), "error", err)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		case <-timer.C:
		}
		due, next, err := k.fuses.claim(ctx)
		if err != nil && ctx.Err() == nil {
			k.log.Warn("fuses could not be looked at", "error", err)
		}
		for _, x := range due {
			k.firing.Go(func() { k.fire(ctx, x) })
		}
		if !next.IsZero() {
			timer.Reset(max(next.Sub(k.fuses.now()), time.Millisecond))
		}
	}
}

// fire does what a fuse is for, and keeps what came of it.
func (k *Keeper) fire(ctx context.Context, x Fuse) {
	if x.Script != "" {
		env := proc.ChildEnv(os.Environ(), nil, map[string]string{"ROLLCALL_CWD": x.Path, "ROLLCALL_FUSE_NOTE": x.Note})
		var result string
		result, x.Output = script.Run(ctx, x.Script, x.Path, env, scriptLimit)
		x.Results = append(x.Results, "script: "+result)
	}
	if x.Webhook != "" {
		result := "told"
		if err := k.tell(ctx, x); err != nil {
			result = err.Error()
		}
		x.Results = append(x.Results, "webhook: "+result)
	}
	if err := k.fuses.note(context.WithoutCancel(ctx), x); err != nil {
		k.log.Warn("the result of a fuse was not kept", "folder", x.Path, "error", err)
	}
	k.fired(x)
}

// tell posts a fuse to its webhook.
func (k *Keeper) tell(ctx context.Context, x Fuse) error {
	body, err := json.Marshal(map[string]any{
		"hook_type": "fuse.fired", "cwd": x.Path, "note": x.Note, "set_at": x.SetAt, "expired_at": x.Expires, "timestamp": x.FiredAt,
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.Webhook, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address can't be used")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := k.client.Do(req)
	if err != nil {
		var u *url.Error // its text has the address, which may hold a secret
		if errors.As(err, &u) {
			err = u.Err
		}
		return fmt.Errorf("not told: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("not told: it answered %s", resp.Status)
	}
	return nil
}
