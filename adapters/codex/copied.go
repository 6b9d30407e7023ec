package codex

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// copyPause is less than the time between a fork and the thread's own work: the records that a fork copies are written at once.
const copyPause = time.Second

// copies finds the end of the records that a fork or a sub-agent has from its parent, where the head does not state it (before 0.169, and in forks of the
// user). The thread's own records begin with a turn that was made after the thread, or after a pause. Records come in the file's order.
type copies struct {
	active  bool
	created time.Time // the thread
	last    time.Time // the last copy was written
	totals  *tokens   // of the copies: the thread counts on from there
}

// newCopies returns the search in the rollout with that head; at is the time of its first line.
func newCopies(h *head) copies {
	return copies{active: h.forkedFrom != "" && h.inherited == 0 && h.continues == "", created: h.started, last: h.written}
}

// has reports whether a record is a copy.
func (c *copies) has(r *record) bool {
	if !c.active {
		return false
	}
	switch made, ok := timeOfID(r.turn); {
	case r.kind == started && ok && !made.Before(c.created), r.at.Sub(c.last) > copyPause:
		c.active = false
		return false
	}
	if r.at.After(c.last) {
		c.last = r.at
	}
	if r.kind == usage && r.totals != nil {
		c.totals = r.totals
	}
	return true
}

// timeOfID returns when the id of a thread or of a turn was made, which is a UUID of version 7. ok is false for another id.
func timeOfID(id string) (at time.Time, ok bool) {
	if !kit.Is(id) || id[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return time.UnixMilli(ms), err == nil
}

var errOwn = errors.New("the thread's own record")

// readInherited finds the records that the thread has from another one, and the sum from which it counts on: that of the copies, or else what its first count
// holds beyond the answer that it is of. Without a count of its own yet, both are looked for again.
func (f *facts) readInherited(ctx context.Context, r io.ReaderAt) error {
	c := newCopies(&f.head)
	f.copying = true
	next, _, err := agentfile.ForwardLong(ctx, io.NewSectionReader(r, 0, 1<<62), 0, 0, func(line []byte, offset int64) error {
		if offset == 0 || !c.active && !mayUse(line) {
			return nil
		}
		for rec := range records(line) {
			switch {
			case c.has(&rec):
				f.copied = offset + int64(len(line)) + 1
				continue
			case c.totals != nil:
				f.base = c.totals
			case rec.kind != usage || rec.totals == nil || isInherited(rec.ordinal, f.inherited) || rec.thread != "" && rec.thread != f.id:
				continue
			default:
				f.base = rec.inherited()
			}
			f.copying = false
			return errOwn
		}
		return nil
	}, func(*agentfile.LongLine) error { return nil })
	if err != nil && !errors.Is(err, errOwn) && !errors.Is(err, agentfile.ErrTooLong) {
		return err
	}
	if f.copying && c.active {
		f.copied, f.base = next, c.totals
	}
	return nil
}

// inherited returns what the first sum of a thread has from another thread, nil if that is not known: all but what its answer used. From 0.169 on a sum that
// follows no record of usage is that of no answer.
func (r *record) inherited() *tokens {
	switch {
	case r.ordinal >= 0 && r.thread == "":
		return r.totals
	case r.used == nil || *r.used == (tokens{}):
		return nil
	}
	return r.totals.minus(r.used)
}

func (t *tokens) minus(o *tokens) *tokens {
	return &tokens{input: t.input - o.input, cached: t.cached - o.cached, written: t.written - o.written,
		output: t.output - o.output, reasoning: t.reasoning - o.reasoning, total: t.total - o.total}
}

// own returns the part of cumulative counts that the thread used itself.
func (t *tokens) own(base *tokens) *tokens {
	if base == nil || t == nil || t.total < base.total {
		return t
	}
	return t.minus(base)
}
