package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Answer is what one adapter said to one question.
type Answer struct {
	At       time.Time
	Sessions []adapters.Session
	// Err says what is missing; nil or adapters.ErrAbsent: Sessions are all
	// there are.
	Err error
	// IDs are the only sessions that were asked for; nil: all were.
	IDs []string
}

// complete says whether a session that isn't listed is not there.
func (a *Answer) complete() bool { return a.Err == nil || isAbsent(a.Err) }

// asked says whether the question was about this session.
func (a *Answer) asked(id string) bool { return a.IDs == nil || slices.Contains(a.IDs, id) }

// Input is all that Reconcile judges by.
type Input struct {
	Before []Session // what was shown of this adapter
	Answer Answer
	Alive  func(proc.Identity) bool
}

// Reconcile says what is shown of one adapter's sessions, one row per id, in no
// particular order. It is pure: Alive is the only thing it asks.
//
//	answered  session listed         process       shown
//	yes       working/waiting        alive         as listed
//	yes       working/waiting        gone          stopped, died: process truth wins
//	yes       idle/unknown           gone          stopped, with the listed outcome
//	yes       live                   none (remote) as listed
//	yes       no                     any           not at all
//	failed    seen before            alive/unknown last status, stale and why
//	failed    seen before            gone          stopped, stale and why
//	partly    some                   as above      listed ones fresh, the others stale
//	about others, not about this one               as before, stopped if gone
func Reconcile(in Input) []Session {
	listed := onePerID(in.Answer.Sessions, in.Alive)
	out := make([]Session, 0, len(listed))
	fresh := make(map[string]bool, len(listed))
	for _, s := range listed {
		fresh[s.ID] = true
		out = append(out, judge(Session{Session: *s}, in.Alive))
	}
	for _, b := range in.Before {
		if fresh[b.ID] {
			continue
		}
		if !in.Answer.asked(b.ID) {
			out = append(out, judge(b, in.Alive))
		} else if !in.Answer.complete() {
			out = append(out, keep(b, in, listed))
		}
	}
	return out
}

// onePerID leaves out all but the best listing of a session: one conversation
// can be open in two processes.
func onePerID(list []adapters.Session, alive func(proc.Identity) bool) []*adapters.Session {
	out := make([]*adapters.Session, 0, len(list))
	at := make(map[string]int, len(list))
	for i := range list {
		s := &list[i]
		j, dup := at[s.ID]
		switch {
		case !dup:
			at[s.ID] = len(out)
			out = append(out, s)
		case better(s, out[j], alive):
			out[j] = s
		}
	}
	return out
}

func better(a, b *adapters.Session, alive func(proc.Identity) bool) bool {
	ra, rb := rank(a.Status), rank(b.Status)
	if gone(a, alive) {
		ra = rank(adapters.Stopped)
	}
	if gone(b, alive) {
		rb = rank(adapters.Stopped)
	}
	if ra != rb {
		return ra < rb
	}
	return a.LastActivityAt.After(b.LastActivityAt)
}

// gone says whether a session is listed as live on a process here that isn't.
func gone(s *adapters.Session, alive func(proc.Identity) bool) bool {
	return s.Live() && s.Remote == "" && !s.Process.IsZero() && !alive(s.Process)
}

func judge(s Session, alive func(proc.Identity) bool) Session {
	if gone(&s.Session, alive) {
		return stopped(s)
	}
	return s
}

// stopped is s after the end of its process.
func stopped(s Session) Session {
	inTurn := s.Status == adapters.Working || s.Status == adapters.Waiting
	if inTurn {
		s.Outcome = adapters.Died
	}
	s.Evidence = fmt.Sprintf("process %d is gone; before: %s", s.Process.PID, s.Evidence)
	s.Status, s.WaitingFor = adapters.Stopped, ""
	s.Process, s.Shared = proc.Identity{}, false
	return s
}

// keep is a session that its adapter should have answered and did not.
func keep(b Session, in Input, listed []*adapters.Session) Session {
	if b.Stale == nil {
		b.Stale = &Stale{Since: in.Answer.At, Reason: Reason(in.Answer.Err)}
	} else {
		b.Stale = &Stale{Since: b.Stale.Since, Reason: Reason(in.Answer.Err)}
	}
	if gone(&b.Session, in.Alive) {
		return stopped(b)
	}
	if heir := heirOf(&b.Session, listed); heir != "" {
		b.Status, b.WaitingFor = adapters.Stopped, ""
		b.Evidence = fmt.Sprintf("process %d now has session %s; before: %s", b.Process.PID, heir, b.Evidence)
		b.Process = proc.Identity{}
	}
	return b
}

// heirOf finds the session that took over the process of s: one process that
// isn't shared has one conversation, beside its sub-agents.
func heirOf(s *adapters.Session, listed []*adapters.Session) string {
	if !s.Live() || s.Shared || s.Process.IsZero() || s.Parent != "" {
		return ""
	}
	for _, o := range listed {
		if o.Process == s.Process && o.Live() && o.Parent == "" {
			return o.ID
		}
	}
	return ""
}

// isAbsent says whether err is "not installed" and nothing else.
func isAbsent(err error) bool {
	if !errors.Is(err, adapters.ErrAbsent) {
		return false
	}
	for _, p := range adapters.Problems(err) {
		if !errors.Is(p, adapters.ErrAbsent) {
			return false
		}
	}
	return true
}

// Reason says in one line why an adapter did not answer; with several problems
// the first, and how many more there are.
func Reason(err error) string {
	ps := adapters.Problems(err)
	switch len(ps) {
	case 0:
		return ""
	case 1:
		return ps[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", ps[0], len(ps)-1)
}
