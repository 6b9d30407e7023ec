package openclaw

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
)

const (
	// answerLimit is the time that one gateway may take. The caller has 5 s for all.
	answerLimit = 3500 * time.Millisecond
)

// answer is the answer of one gateway.
type answer struct {
	remote   string // the gateway's name, if it answered in full; otherwise empty
	sessions []adapters.Session
	problems []error
	skipped  map[string]int
}

// ask asks one gateway.
func (a *Adapter) ask(ctx context.Context, t *target, q adapters.Query) answer {
	limited, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	ans := answer{skipped: map[string]int{}}
	err := a.over(ctx, limited, t, func(c *client) error {
		ans = answer{skipped: map[string]int{}}
		return a.readSessions(limited, t, c, q, &ans)
	})
	full := err == nil
	if isMissingScope(err) && a.stored(ctx, t, q, "it doesn't grant Rollcall "+scopeRead+", so that it is not known whether a run is active", &ans) {
		err = nil
	}
	switch {
	case err == nil:
		if full && len(ans.problems) == 0 && len(ans.skipped) == 0 { // a skipped row may be of a live session
			ans.remote = t.name
		}
	case isRefusedDial(err):
		a.notRunning(ctx, t, q, &ans)
	default:
		if limited.Err() != nil && ctx.Err() == nil {
			err = context.DeadlineExceeded
		}
		ans.problems = append(ans.problems, t.problem(err))
	}
	return ans
}

// notRunning answers for a gateway at whose address no process listens: with the sessions in its state folder, which have stopped with it. A
// gateway that was stopped is no problem, since many users have one installed and don't use it; one that crashed is named by doctor.
func (a *Adapter) notRunning(ctx context.Context, t *target, q adapters.Query, ans *answer) {
	refused := ""
	switch {
	case t.url == "":
		refused = "its openclaw.json does not exist, so that its gateway is not known, nor whether a run is active"
	case t.owner.state == ownerAlive:
		ans.problems = append(ans.problems, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.url,
			Err: fmt.Errorf("the gateway's process %d is running, but nothing listens there", t.owner.pid),
			Fix: "it is starting, which takes up to a minute, or stopping; `openclaw gateway status` says more"})
		return
	case t.named != "":
		ans.problems = append(ans.problems, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.url,
			Err: fmt.Errorf("the gateway named in %s is not running", t.named), Fix: startHint()})
	case t.owner.state == ownerGone:
		ans.skipped[fmt.Sprintf("gateway that does not run: its process %d is gone and left %s; %s", t.owner.pid, t.lockPath, startHint())]++
	}
	a.stored(ctx, t, q, refused, ans)
}

// readSessions asks for the sessions over an open connection.
func (a *Adapter) readSessions(ctx context.Context, t *target, c *client, q adapters.Query, ans *answer) error {
	if !c.hello.granted(scopeRead) {
		return &refusal{method: "sessions.list", Message: "missing scope: " + scopeRead}
	}
	rows, partial, err := c.sessions(ctx, q.IDs, ans.skipped)
	if err != nil {
		return err
	}
	if partial != nil {
		ans.problems = append(ans.problems, t.problem(partial))
	}
	v := gatewayView{target: t, hello: &c.hello, now: a.Now()}
	hidden := false
	if slices.ContainsFunc(rows, row.isActive) {
		var err error
		v.pending, v.whyPendingUnknown, err = t.pending(ctx, c)
		if err != nil {
			// At the moment working can't be distinguished from waiting: the last known
			// state is better than a guess.
			hidden = true
			ans.problems = append(ans.problems, t.problem(err))
		}
	}
	v.workspaces, err = c.folders(ctx, t, rows)
	if err != nil {
		return err
	}
	a.ids.enter(t, rows)
	a.prompts.fill(ctx, t, c, rows)
	a.usages.fill(ctx, t, c, rows, q.Totals)
	for i := range rows {
		if hidden && rows[i].isActive() {
			ans.skipped["running session whose approvals could not be queried"]++
			continue
		}
		s := v.session(&rows[i], a.ids.idOf(t, rows[i].Key))
		s.Parent = a.ids.parent(t, &rows[i], s.ID)
		said, _ := a.prompts.Get(rows[i].place(t))
		s.FirstPrompt, s.LastPrompt = said.first, said.last
		s.Tokens, s.CostUSD = a.usages.of(t, &rows[i])
		t.auth.redactSession(&s)
		ans.sessions = append(ans.sessions, s)
	}
	a.pusher.noteWaiting(t.id, v.pending)
	return nil
}
