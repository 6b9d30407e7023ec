package kit

import (
	"context"
	"fmt"
	"time"

	"rollcall/adapters"
)

// perFile is the time that the rest of an answer may take for each file that was read for it: sorting, deriving statuses,
// making rows.
const perFile = 60 * time.Microsecond

// ReadingTime returns a context in which an adapter reads n files, the newest first. It ends before ctx does, so that what
// was read by then is answered in time: earlier for more files, at most by a third of the time.
func ReadingTime(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	return earlier(ctx, func(left time.Duration) time.Duration { return min(time.Duration(n)*perFile, max(left, 0)/3) })
}

// earlier returns a context that ends before ctx does, by the time that reserve returns for the time that is left. One without a deadline stays as it is.
func earlier(ctx context.Context, reserve func(left time.Duration) time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve(time.Until(deadline))))
}

// Part returns a context that ends after the nth part of the time until ctx ends: for listing folders and examining files, so that
// time is left to read some of them.
func Part(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	return earlier(ctx, func(left time.Duration) time.Duration { return left - left/time.Duration(n) })
}

// IsOver reports whether the deadline of ctx has passed: an answer that takes longer is lost as a whole.
func IsOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline)
}

// NotListed returns the problem that some of n folders below a path were not listed in time; nil for none.
func NotListed(path string, some, n int) error {
	if some == 0 {
		return nil
	}
	return &adapters.Problem{Kind: adapters.ErrTimeout, Path: path, Err: fmt.Errorf("%d of %d folders were not listed in time", some, n)}
}

// NotRead adds the problem that late of n files below a path were not read in time. The files are those written first.
func (a *Answer) NotRead(path, files string, late, n int) {
	if late > 0 {
		a.LeaveOut(NotInTime, late)
		a.Problem(&adapters.Problem{Kind: adapters.ErrTimeout, Path: path,
			Err: fmt.Errorf("%d of %d %s were not read in time, the ones written last come first", late, n, files),
			Fix: "narrow the list, as with --since 7d"})
	}
}

// margin is the part of the caller's time that is reserved for the answer.
const margin = 300 * time.Millisecond

// WithMargin returns a context that ends a little before ctx. Sums and the times of use are read within it; a
// session for which this takes too long is answered without them.
func WithMargin(ctx context.Context) (context.Context, context.CancelFunc) {
	return earlier(ctx, func(left time.Duration) time.Duration { return min(margin, left/5) })
}
