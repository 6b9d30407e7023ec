package codex

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"rollcall/adapters/internal/agentfile"
)

// Rollouts reach 98 GB, with lines of tens of megabytes. Only the first line,
// the first prompt and the last turn matter, and token counts are cumulative:
// the beginning and the end of a file are enough.
const (
	headLimit  = 1 << 20   // to look for the first prompt
	headLine   = 1 << 20   // the session_meta line has 22 KB
	tailLine   = 1 << 20   // longer lines are first recognised by their ends
	tailHard   = 32 << 20  // for the last turn, its prompt, the model and the tokens
	readWindow = 128 << 20 // for a single line that goes beyond tailHard
)

// progress is the state of reading a rollout: its facts and the position to continue from.
type progress struct {
	facts facts
	next  int64 // after the last complete line
}

// readRollout reads a rollout of the given size, from scratch or on from what
// was read before. Both give the same facts.
func readRollout(ctx context.Context, r io.ReaderAt, size int64, before *progress) (progress, error) {
	if before != nil && before.facts.known && !before.facts.copying && before.next <= size {
		p := *before
		if p.facts.firstPrompt == "" && p.next < headLimit { // it may have been added since
			var head progress
			if err := head.readHead(ctx, r); err != nil {
				return p, err
			}
			p.facts.firstPrompt = head.facts.firstPrompt
		}
		return p, p.readOn(ctx, r, size, before.next)
	}
	var p progress
	if err := p.readHead(ctx, r); err != nil {
		return p, err
	}
	return p, p.readOn(ctx, r, size, 0)
}

var errEnough = errors.New("read enough")

// readHead reads the first line and the records up to the first prompt. Those that the thread has from another one are passed over.
func (p *progress) readHead(ctx context.Context, r io.ReaderAt) error {
	var b beginning
	inherited := false // what the thread has from another one was looked for
	read := func(line []byte, offset int64) error {
		b.line(line, offset == 0)
		if b.enough || offset == 0 && !inherited && b.facts.isHeir() {
			return errEnough
		}
		return nil
	}
	_, _, err := agentfile.Forward(ctx, io.NewSectionReader(r, 0, headLimit), 0, headLine, read)
	if errors.Is(err, errEnough) && !b.enough {
		inherited = true
		if err := b.facts.readInherited(ctx, r); err != nil {
			return err
		}
		_, _, err = agentfile.Forward(ctx, io.NewSectionReader(r, 0, b.facts.copied+headLimit), b.facts.copied, headLine, read)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	b.into(&p.facts)
	return nil
}

// beginning collects the facts that only the beginning of a rollout has. It applies the
// records to separate facts, since reading from the end passes them again.
type beginning struct {
	facts  facts
	enough bool
}

func (b *beginning) line(line []byte, isFirst bool) {
	if isFirst {
		b.facts.applyHead(line)
		b.enough = !b.facts.known
		return
	}
	for rec := range records(line) {
		b.facts.apply(rec)
	}
	b.facts.firstPrompt = b.facts.lastPrompt
	b.enough = b.facts.firstPrompt != ""
}

func (b *beginning) into(f *facts) {
	f.head, f.known = b.facts.head, b.facts.known
	f.copied = b.facts.copied
	f.copying = b.facts.copying
	f.base = b.facts.base
	f.firstPrompt, f.model = b.facts.firstPrompt, b.facts.model
}

// readOn reads backward from size, not further than from, and applies what it
// found in the file's order.
func (p *progress) readOn(ctx context.Context, r io.ReaderAt, size, from int64) error {
	found := collector{id: p.facts.id, inherited: p.facts.inherited}
	next, cut, err := found.collect(ctx, r, size, max(from, p.facts.copied))
	if err != nil {
		return err
	}
	if found.gap && from > 0 { // what was read before lies too far back to be read from scratch
		*p = progress{}
		if err := p.readHead(ctx, r); err != nil {
			return err
		}
	}
	if cut && len(found.records) == 0 {
		p.facts.hide((&agentfile.LongLine{Endless: true}).Words(size - from))
	}
	for _, rec := range slices.Backward(found.records) {
		p.facts.apply(rec)
	}
	p.facts.forget(size - tailHard)
	p.next = next
	return nil
}

// collect reads backward from size until it has enough records or reaches from. next is the
// offset after the last complete line; cut reports that reading ended at the window's
// beginning.
func (c *collector) collect(ctx context.Context, r io.ReaderAt, size, from int64) (next int64, cut bool, err error) {
	base := max(from, size-readWindow)
	back := agentfile.Backward(io.NewSectionReader(r, base, size-base), size-base, tailLine).WithContext(ctx)
	defer back.Close()
	isCut := false
	var failed error
	last, all, err := back.Tail(0, func(line []byte, offset int64, long *agentfile.LongLine) bool {
		end := base + lineEnd(offset, line, long)
		switch {
		case offset == 0 && base > from: // it begins before the window
			isCut = true
			return false
		case long != nil && back.Partial() && long.Length <= agentfile.MaxLine: // it may still be being written
			return true
		case long != nil:
			failed = c.addLong(long, r, base, size-from)
		default:
			c.addLine(line, end)
		}
		enough := c.hasAll() || size-base-offset >= tailHard
		c.gap = enough && base+offset > from
		return !enough && failed == nil
	})
	err = errors.Join(err, failed)
	if last == 0 { // there is no complete line in the window
		return from, base > from, err
	}
	return base + last, isCut || all && base > from, err
}

func (c *collector) addLine(line []byte, end int64) {
	for _, rec := range slices.Backward(slices.Collect(records(line))) {
		c.add(rec, end)
	}
}

// addLong adds the records on a long line of r, whose offset counts from base. A line that is too long to be read is at most as long as most says.
func (c *collector) addLong(long *agentfile.LongLine, r io.ReaderAt, base, most int64) error {
	end := base + long.Offset + long.Length + 1
	within := io.NewSectionReader(r, base, long.Offset+long.Length)
	if rec, ok := recognise(long); ok && !startsAgain(within, long) {
		c.add(rec, end)
		return nil
	}
	line, err := long.Read(within)
	if errors.Is(err, agentfile.ErrTooLong) {
		c.add(record{kind: hidden, ordinal: -1, text: long.Words(most)}, end)
		return nil
	}
	c.addLine(line, end)
	return err
}

// recognise returns the record of a long line from its two ends: nearly every one is the result of a call, a summary or a picture, in which one text
// takes up all between them. The others, and lines with two records, are read whole.
func recognise(long *agentfile.LongLine) (record, bool) {
	ends := slices.Concat(long.Head, long.Tail)
	r, err := parse(ends)
	return r, !long.Endless && err == nil && r.unknown == "" && (r.kind == activity || r.kind == other || r.kind == output && r.callID != "")
}

// startsAgain reports whether another record begins on a line, after a part of one whose writer was killed.
func startsAgain(r io.ReaderAt, long *agentfile.LongLine) bool {
	buf := make([]byte, 64<<10)
	step := int64(len(buf) - len(recordStart))
	for at := int64(1); at < long.Length; at += step {
		n, _ := r.ReadAt(buf[:min(int64(len(buf)), long.Length-at)], long.Offset+at)
		if n == 0 || bytes.Contains(buf[:n], recordStart) {
			return true
		}
	}
	return false
}

func lineEnd(offset int64, line []byte, long *agentfile.LongLine) int64 {
	if long != nil {
		return offset + long.Length + 1
	}
	return offset + int64(len(line)) + 1
}

// collector gathers the records that matter, newest first, and knows when it has
// all of them.
type collector struct {
	records   []record
	id        string // of the thread
	inherited int64

	start, model, prompt, totals bool
	gap                          bool // records were left out between from and those kept
}

// add keeps a record whose line ends at an offset. Of consecutive records that only show
// activity, it keeps the newest.
func (c *collector) add(r record, end int64) {
	own := !isInherited(r.ordinal, c.inherited)
	r.end = end
	switch r.kind {
	case meta:
		return
	case started:
		c.start = c.start || own
	case settings:
		c.model = c.model || r.model != "" && own
	case prompt:
		c.prompt = c.prompt || r.text != "" && own
	case usage:
		c.totals = c.totals || r.totals != nil && own && (r.thread == "" || r.thread == c.id)
	case activity, other:
		if n := len(c.records); n > 0 && c.records[n-1].kind == r.kind && r.unknown == "" {
			return
		}
	}
	c.records = append(c.records, r)
}

// hasAll reports whether no further records are needed.
func (c *collector) hasAll() bool { return c.start && c.totals && c.prompt && c.model }
