package openclaw

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rollcall/adapters"
)

// stopLimit is the time limit of Stop, unless its context ends earlier: aborting waits
// for the present step of the run.
const stopLimit = 30 * time.Second

// Stop implements adapters.Stopper. It aborts the session's run; the session stays. A
// run that another client started is aborted only with operator.admin, which is
// requested on a separate connection.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	c, t, key, err := a.connectTo(ctx, s, scopeRead, scopeWrite, scopeAdmin)
	if err != nil {
		return err
	}
	defer c.close()
	err = c.call(ctx, "sessions.abort", map[string]any{"key": key}, nil)
	if err == nil {
		return nil
	}
	if r, is := errors.AsType[*refusal](err); is && r.Message == "unauthorized" {
		return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.url,
			Err: errors.New("the gateway doesn't let Rollcall stop a run that another client started"),
			Fix: "stop it there, or use a token with the scope " + scopeAdmin}
	}
	return t.problem(err)
}

// locate finds the gateway and the key of a session that Discover returned.
func (a *Adapter) locate(ctx context.Context, s adapters.Session) (*target, string, error) {
	p, ok := a.ids.find(s.ID)
	if !ok {
		if _, err := a.Discover(ctx, adapters.Query{IDs: []string{s.ID}}); err != nil {
			return nil, "", err
		}
		p, ok = a.ids.find(s.ID)
		if !ok {
			return nil, "", &adapters.Problem{Kind: adapters.ErrUnreadable, Path: cmp.Or(s.Remote, "OpenClaw"),
				Err: errors.New("no gateway has the session " + s.ID)}
		}
	}
	for _, t := range a.find(ctx).targets {
		if t.id == p.gateway {
			return t, p.key, nil
		}
	}
	return nil, "", &adapters.Problem{Kind: adapters.ErrUnreadable, Path: cmp.Or(s.Remote, "OpenClaw"),
		Err: errors.New("its gateway is no longer known"), Fix: startHint()}
}
