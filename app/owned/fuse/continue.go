package fuse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
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

// SetContinue sets a timer that continues a session at a time. folder is the session's. It returns ErrExists if the session has a timer that has not expired.
func (f *Fuses) SetContinue(ctx context.Context, folder string, c Continue, at time.Time) (Fuse, error) {
	now := f.now()
	if d := at.Sub(now); d <= 0 || d > Most {
		return Fuse{}, errors.New("a session can be continued at a time in the next 30 days")
	}
	if c.Prompt = strings.TrimSpace(c.Prompt); c.Prompt == "" || len(c.Prompt) > MaxPrompt {
		return Fuse{}, errors.New("the prompt must not be empty, nor larger than 64 kB")
	}
	if err := f.ready(ctx); err != nil {
		return Fuse{}, err
	}
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	list, err := f.List()
	if err != nil {
		return Fuse{}, err
	}
	x := Fuse{Path: folder, SetAt: now, Expires: at, Continue: &c, Host: proc.Host(), Space: proc.Space()}
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
}

// CancelContinue removes the timer of the session with this id, so that the session is not continued. It returns ErrNoContinue if there is none.
func (f *Fuses) CancelContinue(ctx context.Context, session string) (Fuse, error) {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	list, err := f.List()
	for _, x := range list {
		if x.Continue != nil && !x.Fired() && x.Continue.Session == session {
			return x, f.folder.Remove(x.name)
		}
	}
	return Fuse{}, errors.Join(fmt.Errorf("%s: %w", session, ErrNoContinue), err)
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
