package fuse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/proc"
)

// Continue is what a timer of a session does: it gives the session a prompt, once, if the session was not used since. Only the keeper does this.
type Continue struct {
	Agent   adapters.Name `json:"agent"`
	Session string        `json:"session"`
	Prompt  string        `json:"prompt"`
	// Active is when the session was last active as the timer was set. A session that was active later was used.
	Active time.Time `json:"active"`
}

// MaxPrompt is the longest prompt of a timer, in bytes.
const MaxPrompt = 64 << 10

// ErrNoContinue is returned if a session has no timer that has not expired.
var ErrNoContinue = errors.New("no continuation is set for this session")

// Late is the time after its expiry from which a timer of a session does nothing any more: the machine was off, and the user has other plans by now.
const Late = 12 * time.Hour

// FileName returns the name that the timer has in its folder. It differs between all timers: a folder has one, and a session.
func (f *Fuse) FileName() string {
	if c := f.Continue; c != nil {
		return store.NameOf("session " + string(c.Agent) + " " + c.Session)
	}
	return store.NameOf(f.Path)
}

// Prompt is what a session is given if the user writes nothing else.
const Prompt = "Continue."

// StillAtLimit returns why a session must not be continued on its own; nil if its last turn failed at a limit and it was not used since a time.
func StillAtLimit(s *app.Session, active time.Time) error {
	switch {
	case s.Machine != "" || s.Remote != "":
		return errors.New("it does not run on this machine")
	case s.Stale != nil:
		return fmt.Errorf("its state is not known: %s", s.Stale.Reason)
	case s.LastActivityAt.After(active):
		return fmt.Errorf("it was used since, at %s", s.LastActivityAt.Local().Format(time.TimeOnly))
	case s.Status != adapters.Idle && s.Status != adapters.Stopped || s.Suspended:
		return fmt.Errorf("it is %s", s.Status)
	case s.Outcome != adapters.Failed || !s.Limited:
		return errors.New("its last turn did not end at a limit")
	}
	return nil
}

// CheckContinue returns why a timer can't continue a session. takesPrompts reports whether its agent takes prompts while the session is open.
func CheckContinue(s *app.Session, takesPrompts bool) error {
	if err := StillAtLimit(s, s.LastActivityAt); err != nil {
		return fmt.Errorf("cannot be continued later: %w", err)
	}
	if s.Status != adapters.Stopped && !takesPrompts {
		return errors.New("takes no prompts from here: close it, and it is resumed at that time")
	}
	return nil
}

// AtReset returns when a session that has reached a limit can go on: a minute after the time of the reset that its agent has recorded, since clocks differ.
func AtReset(s *app.Session, now time.Time) (time.Time, error) {
	at := s.LimitedUntil.Add(time.Minute)
	switch {
	case s.LimitedUntil.IsZero():
		return at, fmt.Errorf("its agent has recorded no time at which the limit is reset; use --at TIME (%s)", s.Evidence)
	case !at.After(now):
		return at, fmt.Errorf("the limit was reset at %s; continue it now: rollcall send, or rollcall resume", s.LimitedUntil.Local().Format("2 Jan 15:04"))
	}
	return at, nil
}

// SetContinue sets a timer that gives a session a prompt at a time. It returns ErrExists if the session has a timer that has not expired.
func (f *Fuses) SetContinue(ctx context.Context, s *app.Session, prompt string, at time.Time) (Fuse, error) {
	now := f.now()
	c := Continue{Agent: s.Agent, Session: s.ID, Prompt: prompt, Active: s.LastActivityAt}
	if d := at.Sub(now); d <= 0 || d > Most {
		return Fuse{}, errors.New("a session can be continued at a time in the next 30 days")
	}
	c.Prompt = strings.TrimSpace(c.Prompt)
	if c.Prompt == "" || len(c.Prompt) > MaxPrompt {
		return Fuse{}, errors.New("the prompt must not be empty, nor larger than 64 kB")
	}
	return f.keep(ctx, func() (Fuse, error) {
		list, err := f.List()
		if err != nil {
			return Fuse{}, err
		}
		x := Fuse{Path: s.CWD, SetAt: now, Expires: at, Continue: &c, Host: proc.Host(), Space: proc.Space()}
		x.name = x.FileName()
		for _, old := range list {
			switch {
			case old.name != x.name:
			case !old.Fired():
				return old, fmt.Errorf("%s: %w; it is continued at %s", c.Session, ErrExists, old.Expires.Local().Format("2 Jan 15:04"))
			case !old.Finished() && !old.unknown:
				return old, fmt.Errorf("%s: %w", c.Session, ErrRunning)
			}
		}
		return x, f.folder.Write(x.name, x)
	})
}

// CancelContinue removes the timer of the session with this id, so that the session is not continued. It returns ErrNoContinue if there is none.
func (f *Fuses) CancelContinue(ctx context.Context, session string) (Fuse, error) {
	return f.locked(ctx, func() (Fuse, error) {
		list, err := f.List()
		for _, x := range list {
			if x.Continue != nil && !x.Fired() && x.Continue.Session == session {
				return x, f.folder.Remove(x.name)
			}
		}
		return Fuse{}, errors.Join(fmt.Errorf("%s: %w", session, ErrNoContinue), err)
	})
}

// continueSession continues the session of a timer and returns the result in words.
func (k *Keeper) continueSession(ctx context.Context, x *Fuse) (result string, o Outcome) {
	err := errors.New("this version of Rollcall continues no sessions")
	if late := x.FiredAt.Sub(x.Expires); late > Late {
		err = fmt.Errorf("the time passed while no keeper ran, at %s", x.Expires.Local().Format("2 Jan 15:04"))
	} else if k.Continue != nil {
		result, err = k.Continue(ctx, *x.Continue)
	}
	if err != nil {
		return "not continued: " + err.Error(), Failed
	}
	return result, Succeeded
}
