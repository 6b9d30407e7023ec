package app

import (
	"context"
	"time"

	"rollcall/adapters"
)

// askLimit bounds the reading of what a process printed, which another process of Rollcall may be reading too.
const askLimit = time.Second

// markHosted shows x as what its process has told Rollcall, which holds its input: that it waits for an answer, or how its turn is. An agent's files need not
// show that, or not yet: its adapter then reports the session as unknown, as idle after an answer that goes on with a call (Gemini CLI), as working after an
// interruption before the first word and while the request is being recorded, or as waiting until the result of a command is recorded (Qwen Code).
func (c *Core) markHosted(x *Session) {
	own := c.Conversant(x)
	if own == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	requests, err := own.Pending(ctx, x.Session)
	switch {
	case err != nil, len(requests) > 0 && x.Status == adapters.Waiting:
	case len(requests) > 0:
		x.Become(adapters.Waiting, "its process asked for an answer, which it has not got; ")
		x.WaitingFor = adapters.ForPermission
		if requests[0].Kind == adapters.AsksQuestion {
			x.WaitingFor = adapters.ForQuestion
		}
	default:
		markTurn(ctx, x, own)
	}
}

// lateRecord is how long after a process told the end of a turn its agent may still record the rest of that turn (Gemini CLI 0.61.0: the answer, and that a
// prompt was taken back). What is recorded later belongs to a turn that the agent began by itself.
const lateRecord = 5 * time.Second

// markTurn shows x as its process told the state of its turn, where its adapter does not know that, or nothing of another turn was recorded since the process
// told that the turn is over.
func markTurn(ctx context.Context, x *Session, own adapters.Conversant) {
	teller, ok := own.(TurnTeller)
	if !ok || x.Status == adapters.Idle && x.Outcome != "" || x.IsProcess() || x.Suspended {
		return
	}
	open, ended, at, known := teller.Turn(ctx)
	recorded := x.LastActivityAt
	if !x.TurnStartedAt.IsZero() && !x.TurnStartedAt.After(at) {
		recorded = recorded.Add(-lateRecord)
	}
	switch isSure := x.Status == adapters.Working || x.Status == adapters.Idle && !x.MayAsk; {
	case !known:
	case open && !isSure:
		x.Become(adapters.Working, "its process has not told the end of its turn; ")
	case !open && (!isSure || !recorded.After(at)):
		x.Become(adapters.Idle, "its process told that the turn is over; ")
		x.Outcome = ended
		x.AskAgain = time.Time{}
	}
}
