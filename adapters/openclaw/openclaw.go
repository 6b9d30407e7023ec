// Package openclaw reports the sessions of OpenClaw gateways.
//
// A gateway is asked over its WebSocket protocol, versions 3 and 4, each time
// somebody wants to know. Its sessions have no processes of their own: while it
// answers, a session works, waits or is idle as its row says (hasActiveRun) and as
// the gateway's lists of pending approvals and questions say. Gateways are found
// through the user's settings, the environment, the state folders (~/.openclaw and
// those of profiles) and the running processes; each fails apart. What one on this
// machine lets nobody ask is read from its state folder.
//
// Facts were learned from OpenClaw 2026.9.6, 2026.7.1, 2026.5.18, 2026.4.15, 2026.3.13
// and 2026.2.26 on Linux.
package openclaw

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Gateway is a gateway that the user named in the settings.
type Gateway struct {
	URL   string // ws://, wss://, http:// or https://
	Token string // gateway.auth.token, or the password of one that wants a password
	Name  string // shown as the session's Remote; the URL if empty
}

// Config says where to look, and whom to ask.
type Config struct {
	adapters.Config
	// Gateways are asked besides those that are found. One that is found as well
	// is asked once, with the token that stands here.
	Gateways []Gateway
	// AllowPlaintext lets tokens travel without TLS to gateways that are not on
	// this machine.
	AllowPlaintext bool
}

// Adapter implements adapters.Adapter, adapters.Watcher, adapters.Pusher,
// adapters.Stopper and adapters.Peeker. It keeps no status: in memory are which
// gateway has which session, first prompts, and, while Push runs, one connection
// per gateway.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	cfg   Config

	book    book
	prompts prompts
	usages  usages
	ends    ends
	folders folders
	gates   gates
	pusher  pusher

	mu    sync.Mutex
	watch []string
}

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Watcher = (*Adapter)(nil)
	_ adapters.Pusher  = (*Adapter)(nil)
	_ adapters.Stopper = (*Adapter)(nil)
	_ adapters.Peeker  = (*Adapter)(nil)
)

// New makes the adapter. It reads and connects to nothing yet.
func New(cfg Config) *Adapter {
	cfg.Config = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: cfg.Table, now: cfg.Now, cfg: cfg}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return adapters.OpenClaw }

// Discover implements adapters.Adapter. Every gateway has 3.5 s at most, so that one
// that hangs doesn't cost the answers of the others. A gateway that is installed
// and not running has no sessions, and is an error only when the user named it,
// when it crashed lately, or when it was seen before by this Adapter and did not
// end cleanly. Without Query.Totals only a few sessions' tokens and costs are asked for at
// once; those of sessions at work are not known.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll := adapters.Roll{Versions: map[string]int{}, Skipped: map[string]int{}}
	f := a.find(ctx)
	roll.LookedIn = f.lookedIn
	a.setWatch(f.watch)
	a.pusher.sync(f.targets)
	if len(f.targets) == 0 && len(f.problems) == 0 && !f.installed {
		return roll, adapters.ErrAbsent
	}
	answers := make([]answer, len(f.targets))
	var asked sync.WaitGroup
	for i, t := range f.targets {
		asked.Go(func() { answers[i] = a.ask(ctx, t, q) })
	}
	asked.Wait()
	problems := f.problems
	for i := range answers {
		problems = append(problems, a.enter(&roll, &answers[i], q)...)
	}
	if ctx.Err() != nil && len(problems) == 0 {
		problems = append(problems, &adapters.Problem{Kind: adapters.ErrTimeout, Path: "OpenClaw", Err: ctx.Err()})
	}
	return roll, errors.Join(problems...)
}

// enter adds a gateway's answer to the roll and returns its problems.
func (a *Adapter) enter(roll *adapters.Roll, ans *answer, q adapters.Query) []error {
	for reason, n := range ans.skipped {
		roll.Skipped[reason] += n
	}
	for _, s := range ans.sessions {
		if len(q.IDs) > 0 && !slices.Contains(q.IDs, s.ID) {
			continue
		}
		roll.Sessions = append(roll.Sessions, s)
		roll.Versions[first(s.Version, "unknown")]++
	}
	return ans.problems
}

// WatchPaths implements adapters.Watcher: the folders in which gateways put their
// locks, which tell that one starts or ends, and those of sessions that are read.
func (a *Adapter) WatchPaths() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.watch)
}

func (a *Adapter) setWatch(paths []string) {
	var existing []string
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() && !slices.Contains(existing, p) {
			existing = append(existing, p)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = existing
}

// addWatch adds a folder until the next Discover finds out anew.
func (a *Adapter) addWatch(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = appendNew(a.watch, path)
}

// first returns the first string that isn't empty.
func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
