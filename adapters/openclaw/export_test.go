package openclaw

import "time"

// Patient lets a gateway take as long as a test may: a busy machine is slow with
// thousands of sessions under the race detector.
func (a *Adapter) Patient() *Adapter {
	a.limit = time.Minute
	return a
}
