package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// openLimit is how long an agent whose process lives may take to open its session after its start, and then to take its prompt: on a busy machine it works
// through its start until then.
const openLimit = 5 * time.Minute

// open gives the prompt to an agent that opens its session first (adapters.Opener). An agent that can't open it, or does not take the prompt, is
// ended: no other process would send it one. The error has the agent's reason.
func (l *Launches) open(ctx context.Context, p *Plan, s *Started) error {
	if p.talk == nil {
		return nil
	}
	if _, ok := p.talk.Talk().(adapters.Opener); !ok {
		return nil
	}
	c := &conversation{l, s.Record.ID, p.talk, s.Record.Process}
	session, err := c.opened(ctx)
	if err == nil {
		s.Record, err = l.update(ctx, s.Record.ID, func(r *Record) bool {
			changed := r.Session != session
			r.Session = session
			return changed
		})
	}
	if err == nil {
		err = c.prompt(ctx, p.prompt, false, false, openLimit)
	}
	if err == nil || errors.Is(err, adapters.ErrUnconfirmed) {
		return err
	}
	if handle, held := l.table.Hold(s.Record.Process); held == nil {
		_ = handle.Send(proc.Terminate)
		handle.Close()
	}
	if s.Child != nil {
		go func() { _, _ = s.Child.Wait() }() // removes it from the process table
	}
	return fmt.Errorf("%s was started and ended again, because it did not take its prompt: %w; its log is %s", p.Agent, err, s.Record.Log)
}

// opened waits until the process has opened its session, and returns the id of that.
func (c *conversation) opened(ctx context.Context) (session string, err error) {
	x, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer x.close()
	opener := x.talk.(adapters.Opener)
	var failed error
	done, err := x.until(ctx, openLimit, func() bool {
		session, failed = opener.Opened()
		return session != "" || failed != nil || !c.isAlive()
	})
	switch {
	case err != nil || failed != nil:
		return "", errors.Join(err, failed)
	case !done:
		return "", fmt.Errorf("it has not opened a session within %s", openLimit)
	case session == "":
		return "", errGone
	}
	return session, nil
}
