package bounded

import (
	"context"
	"time"
)

const (
	// callLimit is the time that all calls of a look may take together.
	callLimit = time.Second
	// callRest is the time that a call may take when the look has used up callLimit.
	callRest = 10 * time.Millisecond
)

// Calls makes the calls of one look at the file system. Together they take little longer than a
// second, however many hang, and a call that hangs is not made again until it has returned. Only
// one goroutine at a time may use it.
type Calls struct {
	behind behind
	jobs   chan func() // of the goroutine that makes the calls; nil: there is none
	left   time.Duration
}

// Begin begins a look. The caller calls End after it.
func (c *Calls) Begin() { c.left = callLimit }

// End ends the goroutine that makes the calls.
func (c *Calls) End() {
	if c.jobs != nil {
		close(c.jobs)
		c.jobs = nil
	}
}

// Call makes a call, which key identifies. answered is false if the call has not
// returned in time, now or at an earlier try.
func Call[T any](c *Calls, key any, call func() T) (value T, answered bool) {
	if _, hangs := c.behind.hangs(key); hangs {
		return value, false
	}
	began := time.Now()
	value, err := await(context.Background(), request{behind: &c.behind, key: key, limit: max(c.left, callRest), start: c.start}, func() (T, error) { return call(), nil })
	if err != nil {
		c.left = 0
		c.End() // a call that hangs keeps its goroutine
		return value, false
	}
	c.left -= time.Since(began)
	return value, true
}

// start makes a call in the goroutine for calls.
func (c *Calls) start(call func()) {
	if c.jobs == nil {
		c.jobs = make(chan func())
		go func(jobs <-chan func()) {
			for job := range jobs {
				job()
			}
		}(c.jobs)
	}
	c.jobs <- call
}
