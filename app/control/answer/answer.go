// Package answer answers what sessions ask of the user, and sends them prompts, for the
// command line, the window and notifications. An answer is bound to what the user saw: to the
// session, the request and its text (Request.Key). If any of them has changed, nothing is
// answered.
package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/risk"
	"rollcall/app/present"
	"rollcall/app/settings"
)

// VisibleFor is how long the window or a notification must show a request before a click or key answers it: a click that was meant for the previous request
// must not answer the new one.
const VisibleFor = 700 * time.Millisecond

const (
	// askLimit is how long an agent may take to list its requests.
	askLimit = 5 * time.Second
	// answerLimit is how long an agent may take to accept an answer.
	answerLimit = 10 * time.Second
	// confirmLimit is how long the session may take to go on after an answer.
	confirmLimit = 2 * time.Second
	// confirmPause is the time between two looks at the session after an answer.
	confirmPause = 50 * time.Millisecond
	// atOnce is how many sessions are asked for their requests at the same time.
	atOnce = 8
)

// Core provides the sessions and their adapters; *app.Core implements it.
type Core interface {
	Adapter(name adapters.Name) adapters.Adapter
	Current(ctx context.Context, agent adapters.Name, id string) (app.Session, error)
	RequestAgentRefresh(name adapters.Name)
}

// conversants is implemented by a Core that holds the input of sessions; *app.Core is one.
type conversants interface {
	Conversant(s *app.Session) adapters.Conversant
}

// agent returns what answers, prompts and interrupts a session: Rollcall itself where it holds the session's input, or else the agent's adapter. The value may
// implement none of adapters.Answerer, Prompter and Stopper.
func (a *Answers) agent(s *app.Session) any {
	if c, ok := a.core.(conversants); ok {
		if own := c.Conversant(s); own != nil {
			return own
		}
	}
	return a.core.Adapter(s.Agent)
}

// actors is implemented by a Core that reports what the user is about to end; *app.Core is one.
type actors interface{ Acting(session string) }

// acting reports that the user is about to end the turn of a session.
func (a *Answers) acting(session string) {
	if c, ok := a.core.(actors); ok {
		c.Acting(session)
	}
}

// Answers answers the requests of sessions. Its methods may be called on any goroutine, and
// take as long as the agents do: never call them on the goroutine of a window.
type Answers struct {
	core   Core
	policy func() settings.Answering
	// OneKey returns the commands that the user entered for one key; nil: there are none.
	OneKey func() []settings.OneKey
	// Environment returns the environment of a session's process, or nil if it is not known.
	Environment func(s *app.Session) []string
}

// New returns Answers over the agents of core. policy returns the setting "answering"; it is
// called at every use, so that a changed setting counts at once.
func New(core Core, policy func() settings.Answering) *Answers {
	return &Answers{core: core, policy: policy, Environment: environment}
}

// Policy returns the setting "answering" as it is now.
func (a *Answers) Policy() settings.Answering { return a.policy() }

// Request is a request as the user sees it.
type Request struct {
	adapters.Request
	Key     string   // names the request in Ref; see adapters.Request.Key
	Dangers []string // see Asks
	// OneKey reports that a single key or click may allow it, as OneKeyRule says. All else takes a second one.
	OneKey bool
	// SureReply reports that an answer to its questions takes a second key or click, too.
	SureReply bool
	// CanReply reports that its questions can be answered from here. Like CanAllow and
	// CanDeny it depends on the settings.
	CanReply bool
}

// maxSummary is the number of cells of a request's text that Asks has.
const maxSummary = 600

// Pending are the requests of one session that waits for the user.
type Pending struct {
	Session  app.Session
	Requests []Request // the oldest first
	// Err is why the session's requests could not be read, or can't be answered from here (adapters.ErrAnswerElsewhere); nil if Requests is complete.
	Err error
	// Place describes where the user can answer the session instead, for example its terminal.
	Place string
}

// Ref names a request that the user saw.
type Ref struct {
	Agent   adapters.Name
	Session string
	Key     string // Request.Key
}

// Ref returns the name of a request of p.
func (p *Pending) Ref(r *Request) Ref {
	return Ref{Agent: p.Session.Agent, Session: p.Session.ID, Key: r.Key}
}

// Result is the result of an answer that the agent accepted.
type Result struct {
	Session  app.Session   // as it is after the answer
	Evidence string        // what the agent said, in words
	Took     time.Duration // from the call until the session went on
}

// All returns the requests of every session of a snapshot that waits for the user, those
// that have waited longest first. It asks the agents at the same time; one that does not
// answer has its error in Pending.Err.
func (a *Answers) All(ctx context.Context, sessions []app.Session) []Pending {
	var list []Pending
	for i := range sessions {
		if sessions[i].Status == adapters.Waiting {
			list = append(list, Pending{Session: sessions[i]})
		}
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range list {
		slots <- struct{}{}
		group.Go(func() {
			list[i] = a.Of(ctx, list[i].Session)
			<-slots
		})
	}
	group.Wait()
	slices.SortStableFunc(list, func(a, b Pending) int { return a.since().Compare(b.since()) })
	return list
}

// since returns when the session began to wait, as far as that is known.
func (p *Pending) since() time.Time {
	if len(p.Requests) > 0 && !p.Requests[0].AskedAt.IsZero() {
		return p.Requests[0].AskedAt
	}
	return p.Session.LastActivityAt
}

// Of returns the requests of one session.
func (a *Answers) Of(ctx context.Context, s app.Session) Pending {
	p := Pending{Session: s, Place: Place(&s)}
	if s.Machine != "" {
		p.Err = fmt.Errorf("%w: Rollcall answers only on the session's own machine", adapters.ErrAnswerElsewhere)
		return p
	}
	answerer, ok := a.agent(&s).(adapters.Answerer)
	if !ok {
		p.Err = fmt.Errorf("%w: its agent takes no answers from outside", adapters.ErrAnswerElsewhere)
		return p
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	list, err := answerer.Pending(limited, s.Session)
	p.Err = err
	for _, r := range list {
		p.Requests = append(p.Requests, a.seen(r, &s))
	}
	return p
}

// seen returns a request of s as the user sees it, with the decisions that the settings allow.
func (a *Answers) seen(r adapters.Request, s *app.Session) Request {
	out := Request{Request: r, Key: r.Key(), CanReply: len(r.Questions) > 0 && !r.OnlyRead && len(r.Unknown) == 0, Dangers: risk.Dangers(&r, s.CWD), OneKey: a.isOneKey(&r, s)}
	out.CanAllow = r.CanAllow && len(r.Unknown) == 0 && a.allowed(adapters.AllowOnce) == nil
	out.CanDeny = r.CanDeny && a.allowed(adapters.Deny) == nil
	out.CanReply = out.CanReply && a.allowed(adapters.Reply) == nil
	out.SureReply = isOfProgram(s)
	return out
}

// Place returns where the user finds a session that can't be answered from here.
func Place(s *app.Session) string {
	var words []string
	if s.Remote != "" {
		words = append(words, "on "+s.Remote)
	}
	if s.Host != "" {
		words = append(words, "in "+s.Host)
	}
	if !s.Process.IsZero() {
		words = append(words, fmt.Sprintf("process %d", s.Process.PID))
	}
	if s.CWD != "" {
		words = append(words, "in "+s.CWD)
	}
	return strings.Join(words, ", ")
}

// There returns where the user gives a session orders that can't be given from here: in its terminal, or in the program in which it runs.
func There(s *app.Session) string {
	if s.Host == "" || s.Remote != "" {
		return "in its terminal (" + Place(s) + ")"
	}
	if s.Process.IsZero() {
		return "in " + s.Host
	}
	return fmt.Sprintf("in %s (process %d)", s.Host, s.Process.PID)
}

// allowed returns why the settings do not allow a decision; nil if they do.
func (a *Answers) allowed(v adapters.Verdict) error {
	const how = "the setting answering is %q; change it in config.toml, or answer where it runs"
	if p := a.policy(); p == settings.AnswerNone || p == settings.AnswerDeny && v != adapters.Deny {
		return fmt.Errorf("%w: "+how, adapters.ErrNotAllowed, p)
	}
	return nil
}

// Answer gives a decision on the request that the user saw, and returns once the session has
// gone on. Its errors wrap those of package adapters (ErrNotPending, ErrRequestChanged, …):
// then nothing was answered. ErrUnconfirmed alone means that the answer was sent, and the
// session did not go on within 2 s. app.ErrNoSession and app.ErrNoAnswer come from Current.
func (a *Answers) Answer(ctx context.Context, ref Ref, d adapters.Decision) (Result, error) {
	began := time.Now()
	if err := a.allowed(d.Verdict); err != nil {
		return Result{}, err
	}
	s, err := a.core.Current(ctx, ref.Agent, ref.Session)
	if err != nil {
		return Result{}, err
	}
	answerer, ok := a.agent(&s).(adapters.Answerer)
	if !ok {
		return Result{}, fmt.Errorf("%w (%s): its agent takes no answers from outside", adapters.ErrAnswerElsewhere, Place(&s))
	}
	shown, err := find(ctx, answerer, &s, ref.Key)
	if err != nil {
		return Result{}, err
	}
	if err := d.Check(&shown); err != nil {
		return Result{}, err
	}
	if d.Verdict == adapters.AllowOnce && !d.SecondLook && !a.isOneKey(&shown, &s) {
		return Result{}, fmt.Errorf("%w by one key: %s", adapters.ErrNotAllowed, OneKeyRule)
	}
	if d.Verdict == adapters.Reply && !d.SecondLook && isOfProgram(&s) {
		return Result{}, fmt.Errorf("%w by one key: a program of yours asks for the agent, so an answer takes a second key", adapters.ErrNotAllowed)
	}
	if d.Verdict == adapters.Deny { // some agents end the turn with it
		a.acting(s.ID)
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	took, err := answerer.Answer(limited, s.Session, shown, d)
	defer a.core.RequestAgentRefresh(ref.Agent)
	if err != nil {
		return Result{}, err
	}
	s, err = a.confirm(ctx, answerer, s, ref.Key, took.Confirmed)
	return Result{Session: s, Evidence: took.Evidence, Took: time.Since(began)}, err
}

// find returns the request with this key among those that wait.
func find(ctx context.Context, answerer adapters.Answerer, s *app.Session, key string) (adapters.Request, error) {
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	list, err := answerer.Pending(limited, s.Session)
	if err != nil {
		return adapters.Request{}, err
	}
	for _, r := range list {
		if r.Key() == key {
			return r, nil
		}
	}
	if len(list) > 0 {
		return adapters.Request{}, fmt.Errorf("%w: another request waits now", adapters.ErrRequestChanged)
	}
	return adapters.Request{}, adapters.ErrNotPending
}

// confirm waits until the session no longer waits, or waits for another request. Where the agent took the decision, the session may still be shown as waiting,
// but not for this request: Qwen Code 0.24.4 records the result of a command seconds after its end.
func (a *Answers) confirm(ctx context.Context, answerer adapters.Answerer, s app.Session, key string, took bool) (app.Session, error) {
	limited, cancel := context.WithTimeout(ctx, confirmLimit)
	defer cancel()
	tick := time.NewTicker(confirmPause)
	defer tick.Stop()
	last := s
	for {
		now, err := a.core.Current(limited, s.Agent, s.ID)
		if err == nil {
			last = now
			if now.Status != adapters.Waiting && now.Status != adapters.Unknown {
				return now, nil
			}
			if _, err := find(limited, answerer, &now, key); errors.Is(err, adapters.ErrRequestChanged) || took && errors.Is(err, adapters.ErrNotPending) {
				return now, nil
			}
		} else if errors.Is(err, app.ErrNoSession) {
			return last, nil // it ended with its answer
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return last, ctx.Err()
			}
			return last, fmt.Errorf("%w: the answer was sent, and the session still waits after %s; check the session %s",
				adapters.ErrUnconfirmed, present.Age(confirmLimit), There(&last))
		}
	}
}
