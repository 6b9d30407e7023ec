package cli

import (
	"context"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

const (
	// followStatus is the interval at which the agent is asked whether the session is still live.
	followStatus = 2 * time.Second
	// followSettle is the time for which the newest answer must stay unchanged before it is printed: agents write a
	// long answer in several steps.
	followSettle = 600 * time.Millisecond
)

// follower follows one session.
type follower struct {
	*env
	core    *app.Core
	session app.Session
	printer *peekPrinter
	first   int // messages to show at first; 0: they were shown

	over      <-chan struct{} // closed when the launch is over and the last messages are to be printed; nil: the follower ends with the session
	changed   <-chan struct{}
	stopWatch func()
	problem   string           // reported last
	growing   adapters.Message // the newest answer, while it may grow
	since     time.Time        // when growing was last changed
}

// followSession prints the last n messages and then each new message. It returns nil when the
// session ends or the output is no longer read, and ctx's error when ctx is done.
func followSession(e *env, core *app.Core, s app.Session, p *peekPrinter, n int) error {
	f := &follower{env: e, core: core, session: s, printer: p, first: n}
	return ignoreReaderGone(f.run())
}

// launchedMessages is the number of messages of a launched session that are read at first. Most messages of a resumed session are older than the launch.
const launchedMessages = 200

// followLaunch prints the messages of a launched session as they come, until over is closed. It then prints the last ones.
func followLaunch(e *env, core *app.Core, s app.Session, p *peekPrinter, over <-chan struct{}) {
	f := &follower{env: e, core: core, session: s, printer: p, first: launchedMessages, over: over}
	defer func() { f.stopWatch() }() // a function, since update may replace stopWatch
	if f.run() != nil {
		return // the output is no longer read, or the user interrupted the command
	}
	<-over
	if f.update() == "" {
		_ = f.print(true)
	}
}

// run prints what is new at each change, until the session ends.
func (f *follower) run() error {
	f.watch()
	defer func() { f.stopWatch() }()
	status := time.NewTicker(followStatus)
	defer status.Stop()
	settle := time.NewTimer(0)
	defer settle.Stop()
	for {
		live := f.session.Live()
		if err := f.print(!live); err != nil {
			return err
		}
		if !live {
			if f.over == nil {
				f.warn("the session ended: " + present.Status(f.session.Session))
			}
			return nil
		}
		if f.growing.Key != "" {
			settle.Reset(followSettle)
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-f.over:
			return nil
		case <-f.changed:
		case <-settle.C:
		case <-status.C:
			if why := f.update(); why != "" {
				if err := f.print(true); err != nil {
					return err
				}
				if f.over == nil {
					f.warn(why)
				}
				return nil
			}
		}
	}
}

// update asks the agent for the session. If the agent no longer lists the session, gone is a
// message that says so.
func (f *follower) update() (gone string) {
	snap := f.core.RefreshOne(f.ctx, f.session.Agent, f.session.ID)
	h := snap.Health(f.session.Agent)
	if h.State == app.Failed && len(h.Problems) > 0 {
		f.report(h.Problems[0])
	}
	list := snap.Sessions()
	at := slices.IndexFunc(list, func(s app.Session) bool { return s.Key() == f.session.Key() })
	switch {
	case at < 0 && f.ctx.Err() == nil && h.State == app.OK:
		return "the session is no longer listed by " + present.AgentName(f.session.Agent)
	case at < 0:
		return ""
	}
	moved := list[at].Status != f.session.Status || !slices.Equal(list[at].Files, f.session.Files)
	f.session = list[at]
	if moved {
		f.stopWatch()
		f.watch()
	}
	return ""
}

// watch starts to watch the files of the session.
func (f *follower) watch() { f.changed, f.stopWatch = followFiles(f.ctx, f.core, f.session) }

// followFiles returns a channel that receives when Peek may return new messages of a session, until stop is called.
func followFiles(ctx context.Context, core *app.Core, s app.Session) (changed <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done, signal := make(chan struct{}), app.NewWakeup()
	go func() {
		defer close(done)
		core.Follow(ctx, s, signal.Set)
	}()
	return signal, func() { cancel(); <-done }
}

// print prints the new messages. It leaves out the newest answer while that may grow, unless all is set.
func (f *follower) print(all bool) error {
	messages, err := f.newMessages()
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	if err != nil {
		f.report(err.Error())
	} else {
		f.problem = ""
	}
	last := len(messages) - 1
	for i, m := range messages {
		if i == last && !all && f.mayGrow(m) {
			break
		}
		if err := f.printer.message(m); err != nil {
			return err
		}
	}
	f.printer.forget(messages)
	return f.write()
}

// mayGrow reports whether an answer may not be complete yet.
func (f *follower) mayGrow(m adapters.Message) bool {
	shown, again := f.printer.shown[m.Key]
	if m.Role != adapters.FromAgent || f.session.Status == adapters.Idle || again && shown.Text == m.Text {
		f.growing = adapters.Message{}
		return false
	}
	if f.growing.Key != m.Key || f.growing.Text != m.Text {
		f.growing, f.since = m, time.Now()
		return true
	}
	if time.Since(f.since) < followSettle {
		return true
	}
	f.growing = adapters.Message{}
	return false
}

// newMessages returns at least the messages since the last call.
func (f *follower) newMessages() ([]adapters.Message, error) {
	if f.first > 0 {
		messages, err := f.core.Peek(f.ctx, f.session, f.first)
		if len(messages) > 0 || err == nil {
			f.first = 0
		}
		return messages, err
	}
	for n := 30; ; n *= 4 {
		messages, err := f.core.Peek(f.ctx, f.session, min(n, maxPeek))
		at := slices.IndexFunc(messages, func(m adapters.Message) bool { _, known := f.printer.shown[m.Key]; return known })
		switch {
		case at >= 0: // the messages before it were shown, or are older
			return messages[at:], err
		case len(messages) < n || n >= maxPeek:
			return messages, err
		}
	}
}

// report prints a problem, once while it lasts.
func (f *follower) report(problem string) {
	if problem != f.problem {
		f.problem = problem
		f.warn(problem)
	}
}
