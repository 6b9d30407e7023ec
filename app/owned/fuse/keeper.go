package fuse

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rollcall/app/owned/script"
	"rollcall/app/owned/webhook"
	"rollcall/app/store"
	"rollcall/proc"
)

const (
	scriptLimit  = 120 * time.Second
	webhookLimit = 30 * time.Second
)

// Keeper fires the fuses that expire while the process runs. At its start it fires those that expired before. At rest
// it has one timer, for the next fuse.
type Keeper struct {
	// Troubles collects the reasons why fuses can't be kept. NewKeeper sets one that only logs them.
	Troubles *store.Failures
	// Continue gives the session of a timer its prompt, unless the session was used since, and returns what was done in words. nil: no session is continued.
	Continue func(context.Context, Continue) (string, error)

	fuses  *Fuses
	client *http.Client
	log    *slog.Logger
	fired  func(Fuse)
	firing sync.WaitGroup
	watch  func(context.Context) (<-chan struct{}, error)
}

// NewKeeper returns a keeper. It calls fired, which may be nil, for each fuse that has fired, with the results, on a
// separate goroutine.
func NewKeeper(f *Fuses, log *slog.Logger, fired func(Fuse)) *Keeper {
	if fired == nil {
		fired = func(Fuse) {}
	}
	return &Keeper{Troubles: store.NewFailures(log, nil), fuses: f, client: webhook.Client(webhookLimit), log: log, fired: fired, watch: f.Changes}
}

// part is the name under which a trouble.Book lists the troubles of fuses.
const part = "timers"

// RunUntil fires fuses until ctx is done. It returns when the scripts that still run then have ended; it kills them once
// scripts is done.
func (k *Keeper) RunUntil(ctx, scripts context.Context) error {
	defer k.firing.Wait()
	changes, err := k.watch(ctx)
	if err != nil {
		k.log.Warn("fuses that another process sets are noticed late", "folder", k.fuses.Folder(), "error", err)
	}
	k.Troubles.Loop(ctx, store.Task{Part: part, Changes: changes, Do: func(ctx context.Context) (again time.Duration, err error) {
		due, next, err := k.fuses.claim(ctx)
		for _, x := range due {
			k.firing.Go(func() { k.fire(scripts, x) })
		}
		if !next.IsZero() {
			again = max(next.Sub(k.fuses.now()), time.Millisecond)
		}
		return again, err
	}})
	return nil
}

// fire runs the script of a fuse, posts to its webhook and writes the results.
func (k *Keeper) fire(ctx context.Context, x Fuse) {
	x.Outcome = Succeeded
	if x.Continue != nil {
		var result string
		result, x.Outcome = k.continueSession(ctx, &x)
		x.Results = append(x.Results, result)
	}
	if x.Script != "" {
		var result string
		result, x.Output = script.Run(ctx, x.Script, filepath.Dir(k.fuses.Folder()), proc.ChildEnv(os.Environ(), nil, scriptEnv(&x)), scriptLimit)
		x.Results = append(x.Results, "script: "+result)
		if result != script.Succeeded {
			x.Outcome = Failed
		}
	}
	if x.Webhook != "" {
		result := "delivered"
		if err := k.post(ctx, x); err != nil {
			result, x.Outcome = "not delivered: "+err.Error(), Failed
		}
		x.Results = append(x.Results, "webhook: "+result)
	}
	x.FinishedAt = k.fuses.now()
	// Without the stored result, a later process could not know whether the fuse fired.
	k.Troubles.Retry(ctx, part, "the result of a fuse could not be stored", func() error { return k.fuses.writeResult(context.WithoutCancel(ctx), x) })
	k.fired(x)
}

// scriptEnv returns the variables that the script of a fuse gets.
func scriptEnv(x *Fuse) map[string]string {
	return map[string]string{"ROLLCALL_CWD": x.Path, "ROLLCALL_FUSE_NOTE": x.Note, "ROLLCALL_FUSE_EVENT": x.Event}
}

// payload is the body that is posted to the webhook of a fuse. docs/json.md describes it.
type payload struct {
	HookType  string    `json:"hook_type"` // fuse.fired
	CWD       string    `json:"cwd"`
	Note      string    `json:"note"`
	Event     string    `json:"event,omitempty"`
	SetAt     time.Time `json:"set_at"`
	ExpiredAt time.Time `json:"expired_at"`
	Timestamp time.Time `json:"timestamp"`
}

// post sends a fuse to its webhook.
func (k *Keeper) post(ctx context.Context, x Fuse) error {
	body, err := json.Marshal(payload{HookType: "fuse.fired", CWD: x.Path, Note: x.Note, Event: x.Event, SetAt: x.SetAt, ExpiredAt: x.Expires, Timestamp: x.FiredAt})
	if err != nil {
		return err
	}
	_, err = webhook.Post(ctx, k.client, x.Webhook, body, nil)
	return err
}
