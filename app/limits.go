package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
)

// AgentLimits are the usage limits that an agent recorded last.
type AgentLimits struct {
	Agent  adapters.Name
	Stored bool             // the agent stores limits; otherwise Limits is always empty
	Limits []adapters.Limit // by home, the shortest window first
	Err    error            // why some may be missing
}

// SeveralHomes reports whether the limits are of more than one home.
func (a *AgentLimits) SeveralHomes() bool {
	return slices.ContainsFunc(a.Limits, func(l adapters.Limit) bool { return l.Home != a.Limits[0].Home })
}

// LimitsOf returns what each agent recorded of its limits. An adapter has the time limit to answer; 0: 5 s.
func LimitsOf(ctx context.Context, agents []adapters.Adapter, limit time.Duration) []AgentLimits {
	out := make([]AgentLimits, len(agents))
	var asked sync.WaitGroup
	for i, a := range agents {
		out[i].Agent = a.Name()
		limiter, ok := a.(adapters.Limiter)
		out[i].Stored = ok
		if !ok {
			continue
		}
		asked.Go(func() {
			found, err := within(ctx, cmp.Or(limit, defaultLimit), limiter.Limits)
			slices.SortFunc(found, func(a, b adapters.Limit) int {
				return cmp.Or(strings.Compare(a.Home, b.Home), strings.Compare(a.Balance, b.Balance), cmp.Compare(a.Window, b.Window), strings.Compare(a.Name, b.Name))
			})
			out[i].Limits, out[i].Err = found, err
		})
	}
	asked.Wait()
	return out
}

// HighLimit is the use in per cent above which the tray shows a limit.
const HighLimit = 80

// LimitStep is the shortest time between two questions of a LimitWatch.
const LimitStep = time.Minute

// LimitWatch asks for the limits of agents while a program runs. It is safe for concurrent use.
type LimitWatch struct {
	agents []adapters.Adapter
	mu     sync.Mutex
	last   []AgentLimits
}

// NewLimitWatch returns a LimitWatch that has not asked yet.
func NewLimitWatch(agents []adapters.Adapter) *LimitWatch { return &LimitWatch{agents: agents} }

// Last returns the last answers.
func (w *LimitWatch) Last() []AgentLimits {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Run asks at once, and then after the sessions of the core have changed, at most once per LimitStep, until ctx is done. It
// calls changed after each answer.
func (w *LimitWatch) Run(ctx context.Context, c *Core, changed func()) {
	news := NewWakeup()
	defer c.Subscribe(func(*Snapshot) { news.Set() })()
	for {
		found := LimitsOf(ctx, w.agents, 0)
		w.mu.Lock()
		w.last = found
		w.mu.Unlock()
		changed()
		select {
		case <-ctx.Done():
			return
		case <-time.After(LimitStep):
		}
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
	}
}
