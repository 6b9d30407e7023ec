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
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(time.Duration(n)*perFile, max(time.Until(deadline), 0)/3)))
}

// ListingTime returns a context in which an adapter lists folders and examines their files: half of the time until ctx ends.
func ListingTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/2))
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
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/5)))
}
