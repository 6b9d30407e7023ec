package app

import (
	"context"
	"errors"

	"rollcall/adapters"
)

// MayStopIdle reports whether a command that stops all idle sessions may stop s: it is idle and its process hosts no
// other session. A suspended session is left out, since its turn may be open.
func (s *Session) MayStopIdle() bool {
	return s.Status == adapters.Idle && !s.Suspended && s.Parent == "" && s.Remote == "" && !s.Shared
}

// PlanStopIdle is PlanStop for a command that stops all idle sessions. It returns ErrMoved for a session that
// is no longer idle. It also fails for a process that another session has, of whatever agent and home: that one may work. Stop asks all of that again.
func (c *Core) PlanStopIdle(ctx context.Context, s Session) (*StopPlan, error) {
	return c.planStop(ctx, s, true)
}

// PlanStopAllIdle returns the plans for all idle sessions of snap that can be stopped,
// and calls failed for those that cannot. With ctx done it returns nil.
func (c *Core) PlanStopAllIdle(ctx context.Context, snap *Snapshot, failed func(*Session, error)) (plans []*StopPlan) {
	for s := range snap.All() {
		if !s.MayStopIdle() {
			continue
		}
		plan, err := c.PlanStopIdle(ctx, *s)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			plans = append(plans, plan)
		case !errors.Is(err, ErrMoved):
			failed(s, err)
		}
	}
	return plans
}
