package app

import (
	"context"
	"time"

	"rollcall/adapters"
)

// askLimit bounds the reading of what a process printed, which another process of Rollcall may be reading too.
const askLimit = time.Second

// markAsking shows x as waiting if its process has asked Rollcall, which holds its input, for an answer. An agent's files need not show that
// (Gemini CLI): its adapter then reports the session as unknown, or as idle after an answer that goes on with a call.
func (c *Core) markAsking(x *Session) {
	if x.Status != adapters.Unknown && x.Status != adapters.Idle {
		return
	}
	own := c.Conversant(x)
	if own == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	requests, err := own.Pending(ctx, x.Session)
	if err != nil || len(requests) == 0 {
		return
	}
	x.Status, x.Outcome, x.WaitingFor = adapters.Waiting, "", adapters.ForPermission
	if requests[0].Kind == adapters.AsksQuestion {
		x.WaitingFor = adapters.ForQuestion
	}
	x.Evidence = "its process asked for an answer, which it has not got; " + x.Evidence
}
