package adapters

import (
	"context"
	"time"
)

// Limit is the use of one window of an account's usage limit, as an agent recorded it last. It says nothing about later use.
type Limit struct {
	// Home is the home of the agent in which it is recorded. It stands for the account, which Rollcall does not know.
	Home string
	// Name is what the agent calls the limit if the window alone does not say it: "Opus", "credits".
	Name string
	// Window is the length of the window; 0: not known.
	Window time.Duration
	// Used is the used share in per cent. It is without meaning if Balance or Unknown is set.
	Used float64
	// Unknown reports that the agent recorded no share, or one that is none.
	Unknown bool
	// Balance is what is left of credits, as the agent records it.
	Balance  string
	ResetsAt time.Time // when the window begins again; zero: not recorded
	At       time.Time // when the agent recorded it
}

// Holds reports whether there is a figure that can still be true: not once the window has begun again since it was recorded. Where the time of
// the reset is not recorded, the figure holds for the length of the window.
func (l *Limit) Holds(now time.Time) bool {
	if l.Unknown {
		return false
	}
	end := l.ResetsAt
	if end.IsZero() && l.Window > 0 {
		end = l.At.Add(l.Window)
	}
	return end.IsZero() || now.Before(end)
}

// LimitAge is the age up to which records of limits are searched: that of the longest window.
const LimitAge = 31 * 24 * time.Hour

// Limiter is implemented by adapters whose agent stores how much of its account's usage limits is used.
type Limiter interface {
	// Limits returns the newest record of each limit in each home of the agent, in no particular order. It reads files of sessions
	// alone: no credentials, and no vendor is asked. Like Discover it may return limits and an error.
	Limits(ctx context.Context) ([]Limit, error)
}
