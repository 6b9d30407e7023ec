package kit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

const (
	// readingFactor is how many times as long as examining a file, reading it takes at least.
	readingFactor = 10
	// alwaysRead is the number of files for which it is not estimated whether there is time to read them.
	alwaysRead = 10_000
)

// Newest returns the time since which those files were last written that can be read before ctx ends, and the number of files that were
// written before. The files were last written at the given times, which Newest sorts; to examine them took that long. Newest saves the
// time and memory that very many files take even if they are not read. Without a deadline, and for 10,000 files, all can be read.
func Newest(ctx context.Context, written []time.Time, took time.Duration) (since time.Time, late int) {
	deadline, ok := ctx.Deadline()
	if !ok || len(written) <= alwaysRead {
		return since, 0
	}
	each := max(took/time.Duration(len(written))*readingFactor, 1)
	n := max(int(time.Until(deadline)/each), alwaysRead)
	if n >= len(written) {
		return since, 0
	}
	slices.SortFunc(written, func(a, b time.Time) int { return b.Compare(a) })
	since = written[n-1]
	late, _ = slices.BinarySearchFunc(written, since, func(t, since time.Time) int { return cmp.Or(since.Compare(t), -1) })
	return since, len(written) - late
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
