package named

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
)

// where is how an answer reaches an agent whose programs the user entered.
const where = "the program of answer in config.toml"

// answered are the requests that were answered from here: a program that goes on to list one is not given another answer.
type answered struct {
	mu   sync.Mutex // held while an answer is given, so that one of several callers succeeds
	keys []string
}

// maxAnswered bounds answered.keys.
const maxAnswered = 1000

// Pending implements adapters.Answerer with the program of requests. Only a session whose process was checked has any.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	u := a.claims.find(a.name)
	switch {
	case s.Status != adapters.Waiting:
		return nil, nil
	case u == nil || u.Requests == nil || a.programs == nil:
		return nil, fmt.Errorf("%w: Rollcall does not read %s; a program of yours can take answers (requests and answer in its [[agent]])", adapters.ErrAnswerElsewhere, a.name)
	case !strings.HasPrefix(s.ID, string(a.name)+":"):
		return nil, fmt.Errorf("%w: the program of rows in config.toml does not list this session", adapters.ErrAnswerElsewhere)
	case s.Process.IsZero():
		return nil, fmt.Errorf("%w: its row names no process that was checked", adapters.ErrAnswerElsewhere)
	}
	all, err := a.programs.Requests(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%w: the program of requests in config.toml: %w", adapters.ErrAnswerElsewhere, err)
	}
	all = slices.DeleteFunc(all, func(r adapters.Request) bool { return r.Session != s.ID })
	for i := range all {
		r := &all[i]
		r.Where = where
		if u.Answer == nil {
			r.CanAllow, r.CanDeny = false, false
		}
	}
	if u.Answer == nil && len(all) > 0 {
		return all, fmt.Errorf("%w: its [[agent]] in config.toml has no answer", adapters.ErrAnswerElsewhere)
	}
	return all, nil
}

// Answer implements adapters.Answerer: it reads the request again, and gives the decision to the program of answer.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	a.answers.mu.Lock()
	defer a.answers.mu.Unlock()
	key := shown.Key()
	if slices.Contains(a.answers.keys, key) {
		return adapters.Result{}, fmt.Errorf("%w: it was answered from here, and the program of requests goes on to list it", adapters.ErrNotPending)
	}
	list, err := a.Pending(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	r, err := adapters.Match(list, &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	if !r.ExpiresAt.IsZero() && time.Until(r.ExpiresAt) < 0 {
		return adapters.Result{}, adapters.ErrRequestExpired
	}
	u := a.claims.find(a.name)
	if u == nil || !u.CanAnswer() {
		return adapters.Result{}, fmt.Errorf("%w: its [[agent]] in config.toml has no answer", adapters.ErrAnswerElsewhere)
	}
	if len(a.answers.keys) == maxAnswered {
		a.answers.keys = nil
	}
	result, err := a.programs.Answer(ctx, u, &r, d)
	if err == nil {
		a.answers.keys = append(a.answers.keys, key)
	}
	return result, err
}
