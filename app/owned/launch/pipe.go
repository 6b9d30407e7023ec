package launch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

const (
	// writeLimit is how long a process may take to read a line from its input.
	writeLimit = 10 * time.Second
	// replyLimit is how long a process may take to reply to a command.
	replyLimit = 8 * time.Second
	// withdrawTime is the time after an answer within which the process reports that it had withdrawn the request.
	withdrawTime = 200 * time.Millisecond
	// endLimit is how long a process may take to print the end of a turn that its files show: Qwen Code stores what it remembers of the turn first (0.24.4).
	endLimit = 8 * time.Second
	// outputPause is the pause between two reads of the output.
	outputPause = 10 * time.Millisecond
	// maxAnswered is how many answered requests a record keeps.
	maxAnswered = 200
)

// pipeFile returns the path of the pipe that is the input of a process.
func (l *Launches) pipeFile(id string) string { return filepath.Join(l.logs, id+".pipe") }

// errorsFile returns the path of the file with what a process with a pipe prints to its standard error. Only its standard
// output belongs to the conversation.
func (l *Launches) errorsFile(id string) string { return filepath.Join(l.logs, id+".err") }

// conversation is a session whose process was launched with a pipe.
type conversation struct {
	launches *Launches
	id       string // of the launch
	agent    adapters.Piped
	process  proc.Identity
}

func (c *conversation) isAlive() bool { return c.launches.table.Alive(c.process) }

// Conversant implements app.Conversants.
func (l *Launches) Conversant(a adapters.Adapter, s *app.Session) adapters.Conversant {
	agent, ok := a.(adapters.Piped)
	if !ok || s.Launch == nil {
		return nil
	}
	r, err := l.record(s.Launch.ID)
	if err != nil || !r.Pipe || r.Ended() || r.Foreign() || r.Session != "" && s.ID != r.Session && s.ID != r.ID {
		return nil
	}
	return &conversation{l, r.ID, agent, r.Process}
}

// exchange is the exclusive use of a conversation: no other process of Rollcall writes meanwhile.
type exchange struct {
	*reading
	c    *conversation
	logs *store.Dir
	out  *os.File // what the process prints
}

// open waits for the exclusive use of a conversation and reads it to its end. The caller must close it.
func (c *conversation) open(ctx context.Context) (_ *exchange, err error) {
	logs, err := store.OpenDir(c.launches.state, filepath.Base(c.launches.logs))
	if err != nil {
		return nil, c.unusable(err)
	}
	x := &exchange{c: c, logs: logs}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	x.out, _, err = logs.Open(c.id + ".log")
	if err != nil {
		return nil, c.unusable(err)
	}
	for {
		got, err := store.TryLockFile(x.out)
		if err != nil {
			return nil, c.unusable(err)
		}
		if got {
			break
		}
		if err := bounded.Wait(ctx, outputPause); err != nil {
			return nil, err
		}
	}
	reading := c.launches.talks.of(c.id, c.agent)
	reading.mu.Lock()
	x.reading = reading
	return x, x.advance()
}

// unusable returns the error of a conversation that can't be used. Nothing was written.
func (c *conversation) unusable(err error) error {
	return fmt.Errorf("nothing was answered or sent, because the input or output of launch %s can't be used: %w; stop the session, and resume it in a terminal", c.id, err)
}

func (x *exchange) close() {
	if x.reading != nil {
		x.mu.Unlock()
	}
	if x.out != nil {
		_ = x.out.Close() // releases the lock
	}
	x.logs.Close()
}

func (x *exchange) advance() error {
	if err := x.reading.advance(x.out); err != nil {
		return x.c.unusable(err)
	}
	return nil
}

// errGone reports that the process of a launch does not read its input any more.
var errGone = errors.New("its process has ended")

// write writes a line to the process. sent reports whether it may have read a part of the line.
func (x *exchange) write(ctx context.Context, line []byte) (sent bool, err error) {
	pipe, err := x.logs.OpenPipe(x.c.id + ".pipe")
	switch {
	case errors.Is(err, store.ErrNoReader), errors.Is(err, fs.ErrNotExist):
		return false, errGone
	case err != nil:
		return false, err
	}
	end := time.Now().Add(writeLimit)
	if limit, ok := ctx.Deadline(); ok && limit.Before(end) {
		end = limit
	}
	_ = pipe.SetWriteDeadline(end)
	n, err := pipe.Write(append(line, '\n'))
	return n > 0, errors.Join(err, pipe.Close())
}

// until reads the output until ok returns true, or limit has passed. It reports whether ok was true. It is called after a
// write, so its error does not claim that nothing was written.
func (x *exchange) until(ctx context.Context, limit time.Duration, ok func() bool) (bool, error) {
	for end := time.Now().Add(limit); ; {
		if err := x.reading.advance(x.out); err != nil {
			return false, err
		}
		if ok() {
			return true, nil
		}
		if time.Now().After(end) {
			return false, nil
		}
		if err := bounded.Wait(ctx, outputPause); err != nil {
			return false, err
		}
	}
}

// pending returns the requests that wait and were not answered.
func (x *exchange) pending(s *adapters.Session) ([]adapters.Request, error) {
	r, err := x.c.launches.record(x.c.id)
	if err != nil {
		return nil, x.c.unusable(err)
	}
	list := slices.DeleteFunc(x.talk.Waiting(), func(q adapters.Request) bool { return slices.Contains(r.Answered, q.ID) })
	for i := range list {
		list[i].Session, list[i].Folder = s.ID, s.CWD
	}
	return list, nil
}

// Turn implements app.TurnTeller.
func (c *conversation) Turn(ctx context.Context) (open bool, ended adapters.Outcome, at time.Time, known bool) {
	x, err := c.open(ctx)
	if err != nil {
		return false, "", at, false
	}
	defer x.close()
	info, err := x.out.Stat()
	talk, tells := x.talk.(adapters.TurnEnder)
	if err != nil || !tells || x.talk.Turns() == 0 {
		return false, "", at, false
	}
	return x.talk.Working(), talk.Ended(), info.ModTime(), true
}

// Pending implements adapters.Answerer.
func (c *conversation) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	x, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	return x.pending(&s)
}

// Answer implements adapters.Answerer. The request's id is stored before the answer is written, so that a request never gets
// two answers, even if several processes answer it or one crashes.
func (c *conversation) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	x, err := c.open(ctx)
	if err != nil {
		return adapters.Result{}, err
	}
	defer x.close()
	list, err := x.pending(&s)
	if err != nil {
		return adapters.Result{}, err
	}
	r, err := adapters.Match(list, &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	line, err := x.talk.Answer(r.ID, d)
	if err != nil {
		return adapters.Result{}, err
	}
	if err := c.claim(ctx, r.ID); err != nil {
		return adapters.Result{}, err
	}
	switch sent, err := x.write(ctx, line); {
	case errors.Is(err, errGone):
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrNotPending, err)
	case err != nil && !sent:
		return adapters.Result{}, errors.Join(c.unusable(err), c.unclaim(ctx, r.ID))
	case err != nil:
		return adapters.Result{}, fmt.Errorf("%w: the answer was written in part: %w; stop the session if it goes on waiting", adapters.ErrUnconfirmed, err)
	}
	// A request that the process withdrew before it read the answer counts as not answered.
	withdrawn, err := x.until(ctx, withdrawTime, func() bool { return x.talk.Withdrawn(r.ID) })
	switch {
	case err != nil:
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	case withdrawn:
		return adapters.Result{}, adapters.ErrNotPending
	}
	return adapters.Result{Evidence: "the answer was written to the input of launch " + c.id}, nil
}

// claim stores that a request gets its answer now. It returns ErrNotPending if it has one.
func (c *conversation) claim(ctx context.Context, request string) error {
	claimed := false
	_, err := c.launches.update(ctx, c.id, func(r *Record) bool {
		claimed = !r.Ended() && !slices.Contains(r.Answered, request)
		if claimed {
			r.Answered = append(r.Answered, request)
			r.Answered = r.Answered[max(len(r.Answered)-maxAnswered, 0):]
		}
		return claimed
	})
	switch {
	case err != nil:
		return fmt.Errorf("nothing was answered, because the answer could not be noted: %w", err)
	case !claimed:
		return adapters.ErrNotPending
	}
	return nil
}

// unclaim undoes claim, for an answer of which nothing was written.
func (c *conversation) unclaim(ctx context.Context, request string) error {
	_, err := c.launches.update(context.WithoutCancel(ctx), c.id, func(r *Record) bool {
		n := len(r.Answered)
		r.Answered = slices.DeleteFunc(r.Answered, func(id string) bool { return id == request })
		return len(r.Answered) < n
	})
	return err
}

// Send implements adapters.Prompter.
func (c *conversation) Send(ctx context.Context, s adapters.Session, prompt string) error {
	return c.prompt(ctx, prompt, s.Status == adapters.Idle, false, replyLimit)
}

// Queue implements adapters.Prompter.
func (c *conversation) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	return c.prompt(ctx, prompt, s.Status == adapters.Idle, true, replyLimit)
}

// prompt gives the process a prompt, and waits for at most limit until it has taken it. idle reports that its turn is over by its files: the process may print that a moment later.
func (c *conversation) prompt(ctx context.Context, text string, idle, queue bool, limit time.Duration) error {
	x, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	if idle {
		if _, err := x.until(ctx, endLimit, func() bool { return !x.talk.Working() }); err != nil {
			return err
		}
	}
	working := x.talk.Working()
	turns := x.talk.Turns()
	order := newOrder()
	if working && !queue {
		return adapters.ErrBusy
	}
	line := x.talk.Prompt(order, text, queue)
	if line == nil {
		return adapters.ErrBusy
	}
	if err := x.order(ctx, line); err != nil {
		return err
	}
	if working {
		return nil // the agent handles the prompt later
	}
	var refused error
	var replied bool
	isBegun := func() bool {
		replied, refused = x.talk.Replied(order)
		return replied || x.talk.Turns() > turns
	}
	_, err = x.until(ctx, limit, func() bool { return isBegun() || !c.isAlive() })
	begun := isBegun()
	switch {
	case err != nil:
		return fmt.Errorf("%w: the prompt was given to the agent, but it is not known whether a turn began: %w", adapters.ErrUnconfirmed, err)
	case refused != nil:
		return fmt.Errorf("the agent did not take the prompt: %w", refused)
	case !begun && !c.isAlive():
		return errGone
	case !begun:
		return fmt.Errorf("%w: the prompt was given to the agent, but no turn has begun within %s", adapters.ErrUnconfirmed, present.Age(limit))
	}
	return nil
}

func (x *exchange) order(ctx context.Context, line []byte) error {
	sent, err := x.write(ctx, line)
	switch {
	case errors.Is(err, errGone):
		return err
	case err != nil && !sent:
		return x.c.unusable(err)
	case err != nil:
		return fmt.Errorf("%w: the input of launch %s was written in part: %w", adapters.ErrUnconfirmed, x.c.id, err)
	}
	return nil
}

func newOrder() string { return "rollcall-" + rand.Text() }

// Stop implements adapters.Stopper: it ends the turn.
func (c *conversation) Stop(ctx context.Context, _ adapters.Session) error {
	x, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	if !x.talk.Working() {
		return nil
	}
	order := newOrder()
	if err := x.order(ctx, x.talk.Interrupt(order)); err != nil {
		return err
	}
	var refused error
	replied, err := x.until(ctx, replyLimit, func() (done bool) {
		done, refused = x.talk.Replied(order)
		return done || !x.talk.Working()
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: the agent was asked to end the turn, but it is not known whether it did: %w", adapters.ErrUnconfirmed, err)
	case refused != nil:
		return refused
	case !replied:
		return fmt.Errorf("%w: the agent was asked to end the turn, but did not reply within %s", adapters.ErrUnconfirmed, present.Age(replyLimit))
	}
	return nil
}
