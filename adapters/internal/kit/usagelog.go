package kit

import (
	"context"
	"math"
	"slices"
	"time"

	"rollcall/adapters"
)

// Log holds what the records read so far used. Its zero value is ready for use. A copy shares its steps: add to only
// one of the two, or Clone it.
type Log struct {
	steps    []adapters.Usage // by time, the one without a time first
	prompted bool             // a prompt has no answer yet
	answered time.Time        // the time of the last answer
}

// Prompt records a prompt of the user.
func (l *Log) Prompt() { l.prompted = true }

// LatePrompt records a prompt of the user that was written after its answer.
func (l *Log) LatePrompt() {
	if !l.answered.IsZero() {
		l.step(l.answered).Turns++
	}
}

// Answer records an answer of the model at that time. The first one after a prompt completes a turn.
func (l *Log) Answer(at time.Time) {
	l.answered = at
	if l.prompted {
		l.prompted = false
		l.step(at).Turns++
	}
}

// Add records tokens and cost of that time. Without a time they belong to the last step.
func (l *Log) Add(at time.Time, tokens adapters.Tokens, usd float64) {
	if tokens == (adapters.Tokens{}) && usd == 0 {
		return
	}
	s := l.step(at)
	s.Tokens.Add(tokens)
	s.CostUSD += usd
}

// AddStep records what was used in a step, such as a sum that a database made.
func (l *Log) AddStep(u adapters.Usage) {
	l.Add(u.At, u.Tokens, u.CostUSD)
	if u.Turns > 0 {
		l.step(u.At).Turns += u.Turns
	}
}

// step returns the step of that time, to which the caller adds.
func (l *Log) step(at time.Time) *adapters.Usage {
	last := len(l.steps) - 1
	if at.IsZero() && last >= 0 {
		return &l.steps[last]
	}
	if !at.IsZero() {
		at = at.UTC().Truncate(adapters.UsageStep)
	}
	if last >= 0 && l.steps[last].At.Equal(at) {
		return &l.steps[last]
	}
	i, found := slices.BinarySearchFunc(l.steps, at, func(u adapters.Usage, at time.Time) int { return u.At.Compare(at) })
	if !found {
		l.steps = slices.Insert(l.steps, i, adapters.Usage{At: at})
	}
	return &l.steps[i]
}

// Clone returns a log to which records can be added without changing l.
func (l *Log) Clone() Log {
	c := *l
	c.steps = slices.Clone(l.steps)
	return c
}

// Steps returns what a session used, by time, for a session whose totals are known and which was last active at last. The steps
// add up to the totals exactly: what no record accounts for, such as tokens of messages that were removed since,
// belongs to the last step. The caller may keep the answer.
func (l *Log) Steps(tokens adapters.Tokens, usd float64, last time.Time) []adapters.Usage {
	c := l.Clone()
	if len(c.steps) == 0 {
		c.step(last)
	}
	if c.steps[0].At.IsZero() && !last.IsZero() { // records before the first one with a time
		without := c.steps[0]
		c.steps = c.steps[1:]
		without.At = last
		if len(c.steps) > 0 {
			without.At = c.steps[0].At
		}
		c.AddStep(without)
		if len(c.steps) == 0 {
			c.step(without.At)
		}
	}
	var sum adapters.Usage
	for i := range c.steps {
		sum.Tokens.Add(c.steps[i].Tokens)
		sum.CostUSD += c.steps[i].CostUSD
	}
	end := &c.steps[len(c.steps)-1]
	end.Tokens.Add(tokens.Minus(sum.Tokens))
	if rest := usd - sum.CostUSD; math.Abs(rest) > 1e-9 {
		end.CostUSD += rest
	}
	t := end.Tokens
	if min(t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning) < 0 || end.CostUSD < -1e-9 {
		// The records count more than the totals, so how much each step used is not known.
		turns, _ := (&adapters.Session{Usage: c.steps}).Turns()
		*end = adapters.Usage{At: end.At, Tokens: tokens, CostUSD: usd, Turns: turns}
		return []adapters.Usage{*end}
	}
	return c.steps
}

// margin is the part of the caller's time that is reserved for the answer.
const margin = 300 * time.Millisecond

// WithMargin returns a context that ends a little before ctx. Sums and the times of use are read within it; a
// session for which this takes too long is answered without them.
func WithMargin(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/5)))
}
