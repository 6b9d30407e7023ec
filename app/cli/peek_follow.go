package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

const (
	// followStatus is how often it is asked whether the session still lives.
	followStatus = 2 * time.Second
	// followSettle is how long an answer that was said last must not change to
	// be printed: agents write long ones bit by bit.
	followSettle = 600 * time.Millisecond
)

// follower follows one session.
type follower struct {
	*command
	core    *app.Core
	session app.Session
	printer *peekPrinter
	n       int // messages to show at first; 0: they were shown

	changed chan struct{}
	stop    func() // of what watches the session
	problem string // told last
	waits   adapters.Message
	since   time.Time // that waits has been as it is
}

// followSession prints messages as they come, until the session ends (no
// error), the reader is gone (none either) or the context is done.
func (c *command) followSession(core *app.Core, s app.Session, p *peekPrinter, n int) error {
	f := &follower{command: c, core: core, session: s, printer: p, n: n, changed: make(chan struct{}, 1), stop: func() {}}
	defer func() { f.stop() }()
	f.watch()
	err := f.run()
	if errors.Is(err, errReaderGone) {
		return nil
	}
	return err
}

func (f *follower) run() error {
	status := time.NewTicker(followStatus)
	defer status.Stop()
	settle := time.NewTimer(0)
	defer settle.Stop()
	for {
		live, why := f.session.Live(), ""
		if err := f.print(!live); err != nil {
			return err
		}
		if !live {
			f.complain("the session ended: " + present.Status(f.session.Session))
			return nil
		}
		if f.waits.Key != "" {
			settle.Reset(followSettle)
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-f.changed:
		case <-settle.C:
		case <-status.C:
			if why = f.look(); why != "" {
				if err := f.print(true); err != nil {
					return err
				}
				f.complain(why)
				return nil
			}
		}
	}
}

// look asks how the session is. Where it is not listed any more it says so.
func (f *follower) look() (gone string) {
	snap := f.core.RefreshOne(f.ctx, f.session.Agent, f.session.ID)
	for _, h := range snap.Adapters {
		if h.Name == f.session.Agent && h.State == app.Failed && len(h.Problems) > 0 {
			f.tell(h.Problems[0])
		}
	}
	at := slices.IndexFunc(snap.Sessions, func(s app.Session) bool {
		return s.Agent == f.session.Agent && s.ID == f.session.ID
	})
	switch {
	case at < 0 && f.ctx.Err() == nil && answered(snap, f.session.Agent):
		return "the session is no longer listed by " + present.AgentName(f.session.Agent)
	case at < 0:
		return ""
	}
	moved := snap.Sessions[at].Status != f.session.Status || !slices.Equal(snap.Sessions[at].Files, f.session.Files)
	f.session = snap.Sessions[at]
	if moved {
		f.watch()
	}
	return ""
}

func answered(snap *app.Snapshot, name adapters.Name) bool {
	return slices.ContainsFunc(snap.Adapters, func(h app.Health) bool { return h.Name == name && h.State == app.OK })
}

// watch watches the session as it is now.
func (f *follower) watch() {
	f.stop()
	ctx, cancel := context.WithCancel(f.ctx)
	done := make(chan struct{})
	s := f.session
	go func() {
		defer close(done)
		f.core.Follow(ctx, s, func() {
			select {
			case f.changed <- struct{}{}:
			default:
			}
		})
	}()
	f.stop = func() { cancel(); <-done }
}

// print prints what is new. The newest answer waits until it doesn't grow any
// more, unless it is all there will be.
func (f *follower) print(all bool) error {
	messages, err := f.news()
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	if err != nil {
		f.tell(err.Error())
	} else {
		f.problem = ""
	}
	last := len(messages) - 1
	for i, m := range messages {
		if i == last && !all && f.grows(m) {
			break
		}
		if err := f.printer.message(m); err != nil {
			return err
		}
	}
	f.printer.forget(messages)
	return f.printer.hand()
}

// grows says whether an answer may not be complete yet.
func (f *follower) grows(m adapters.Message) bool {
	shown, again := f.printer.shown[m.Key]
	if m.Role != adapters.FromAgent || f.session.Status == adapters.Idle || again && shown.Text == m.Text {
		f.waits = adapters.Message{}
		return false
	}
	if f.waits.Key != m.Key || f.waits.Text != m.Text {
		f.waits, f.since = m, time.Now()
		return true
	}
	if time.Since(f.since) < followSettle {
		return true
	}
	f.waits = adapters.Message{}
	return false
}

// news asks for as many messages as it takes to have all since the last time.
func (f *follower) news() ([]adapters.Message, error) {
	if f.n > 0 {
		messages, err := f.core.Peek(f.ctx, f.session, f.n)
		if len(messages) > 0 || err == nil {
			f.n = 0
		}
		return messages, err
	}
	for n := 30; ; n *= 4 {
		messages, err := f.core.Peek(f.ctx, f.session, min(n, maxPeek))
		at := slices.IndexFunc(messages, func(m adapters.Message) bool { _, known := f.printer.shown[m.Key]; return known })
		switch {
		case at >= 0: // what came before was shown, or is older
			return messages[at:], err
		case len(messages) < n || n >= maxPeek:
			return messages, err
		}
	}
}

// tell complains about a problem, once while it lasts.
func (f *follower) tell(problem string) {
	if problem != f.problem {
		f.problem = problem
		f.complain(problem)
	}
}
