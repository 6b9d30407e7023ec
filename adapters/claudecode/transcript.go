package claudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"rollcall/adapters/internal/jsonl"
)

const (
	wholeLimit  = 128 << 10 // files up to here are read whole at once
	headLimit   = 512 << 10 // how far the first prompt is looked for
	tailLimit   = 256 << 10 // how far back more than the turn's state is looked for
	growthLimit = 8 << 20   // more new bytes than this are read as if the file were new
	markLen     = 256
	coolDown    = time.Hour // after which a file isn't expected to grow
)

// transcript is what is known of one transcript file, kept between questions.
// Claude Code only appends, so what was read once stays true while the file is
// the same and its bytes before next are. Whoever holds the lock may use it.
type transcript struct {
	lock chan struct{}
	path string

	info  fs.FileInfo // when it was read last; nil: never
	next  int64       // the complete lines up to here are in facts
	mark  []byte      // the bytes before next
	facts facts       // of the complete lines
	now   facts       // and of an unfinished last line
	sums  totals
	rest  []byte // the unfinished last line, when it is a whole record
	parse parser
}

func newTranscript(path string) *transcript {
	return &transcript{lock: make(chan struct{}, 1), path: path}
}

// acquire locks the transcript, unless ctx is done first.
func (t *transcript) acquire(ctx context.Context) error {
	select {
	case t.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *transcript) release() { <-t.lock }

// current says whether what is known is still the file's content.
func (t *transcript) current(info fs.FileInfo) bool {
	return t.info != nil && os.SameFile(t.info, info) && t.info.Size() == info.Size() && t.info.ModTime().Equal(info.ModTime())
}

// read brings the facts up to date. A small file is read whole, of a large one
// the head and as much of the tail as it takes.
func (t *transcript) read(ctx context.Context, info fs.FileInfo) error {
	if t.current(info) {
		return nil
	}
	f, info, err := openRegular(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !t.grew(f, info) {
		t.reset()
	}
	size := info.Size()
	switch {
	case t.next > 0 || size <= wholeLimit:
		err = t.forward(ctx, f)
	default:
		err = t.ends(ctx, f, size)
	}
	if err == nil {
		err = t.finish(f, info)
	}
	if err != nil {
		t.reset()
	}
	return err
}

func (t *transcript) reset() {
	t.info, t.next, t.mark = nil, 0, nil
	t.facts, t.now, t.sums, t.rest = facts{}, facts{}, totals{}, nil
}

// grew says whether the open file is the known one with something appended.
func (t *transcript) grew(f *os.File, info fs.FileInfo) bool {
	if t.info == nil || !os.SameFile(t.info, info) || info.Size() <= t.info.Size() || info.Size()-t.next > growthLimit {
		return false
	}
	mark := make([]byte, len(t.mark))
	_, err := f.ReadAt(mark, t.next-int64(len(mark)))
	return err == nil && bytes.Equal(mark, t.mark)
}

// forward reads the complete lines from next on.
func (t *transcript) forward(ctx context.Context, f *os.File) error {
	inStep := t.sums.next == t.next && (t.sums.seen != nil || t.next == 0)
	next, _, err := jsonl.ForwardLong(ctx, f, t.next, 0, func(line []byte, _ int64) error {
		t.line(line)
		if inStep {
			t.sums.add(line)
		}
		return nil
	}, func(long *jsonl.LongLine) error {
		t.facts.tooLong(longReason)
		t.sums.unsure = t.sums.unsure || mayAnswer(long)
		return nil
	})
	if err != nil {
		return err
	}
	t.next = next
	if inStep {
		t.sums.next = next
	}
	return nil
}

const longReason = "line over 64 MB"

func (t *transcript) line(line []byte) {
	rec, err := t.parse.parse(line)
	if err != nil {
		t.facts.garbage("line that is not JSON")
		return
	}
	t.facts.add(&rec)
}

var errEnough = errors.New("enough")

// ends reads a large file's head and tail.
func (t *transcript) ends(ctx context.Context, f *os.File, size int64) error {
	headEnd, _, err := jsonl.ForwardLong(ctx, f, 0, 0, func(line []byte, offset int64) error {
		if offset > 0 && (offset > headLimit || t.facts.firstPrompt != "" && !t.facts.started.IsZero()) {
			return errEnough
		}
		t.line(line)
		return nil
	}, func(*jsonl.LongLine) error { return errEnough })
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	records, next, err := t.tail(ctx, f, headEnd, size)
	if err != nil {
		return err
	}
	if len(records) > 0 && records[0].offset > headEnd || len(records) == 0 && next > headEnd {
		t.facts.gap()
	}
	for i := range records {
		switch r := &records[i]; {
		case r.long:
			t.facts.tooLong(longReason)
		case r.garbage:
			t.facts.garbage("line that is not JSON")
		default:
			t.facts.add(&r.record)
		}
	}
	t.next = next
	return nil
}

// tailRecord is a line of the tail.
type tailRecord struct {
	record
	offset        int64
	long, garbage bool
}

// tail reads backwards until the state of the last turn is known, and, within a
// limit, what else is told per record. The records are in the file's order; next
// is the end of the last complete line.
func (t *transcript) tail(ctx context.Context, f io.ReaderAt, headEnd, size int64) (records []tailRecord, next int64, err error) {
	var have tailNeeds
	next = size
	b := jsonl.Backward(f, size, 0).WithContext(ctx)
	for !have.all() {
		line, offset, err := b.Prev()
		var long *jsonl.LongLine
		switch {
		case errors.Is(err, io.EOF) || err == nil && offset < headEnd:
			slices.Reverse(records)
			return records, next, nil
		case errors.As(err, &long):
		case err != nil:
			return nil, 0, err
		}
		if b.Partial() {
			next = offset
			continue
		}
		r := tailRecord{offset: offset, long: long != nil}
		if r.long {
			have.turn = true // what came before isn't the last
		} else {
			r.record, err = t.parse.parse(line)
			r.garbage = err != nil
		}
		have.note(&r.record)
		records = append(records, r)
		switch {
		case have.first.IsZero():
			have.firstAt = offset
		case have.firstAt-offset > tailLimit:
			have.turn = true
		}
		if have.turn && size-offset >= tailLimit {
			break
		}
	}
	slices.Reverse(records)
	return records, next, nil
}

// tailNeeds is what was found on the way back.
type tailNeeds struct {
	turn, cwd, model, prompt, usage, time bool

	answer   uint64 // message id of the last answer
	answered bool
	first    time.Time // of a first prompt, whose answer may stand before it
	firstAt  int64     // where that prompt is
}

func (n *tailNeeds) all() bool { return n.turn && n.cwd && n.model && n.prompt && n.usage && n.time }

func (n *tailNeeds) note(r *record) {
	n.time = n.time || !r.at.IsZero()
	if r.sidechain {
		return
	}
	n.turn = n.turn || n.settles(r)
	n.cwd = n.cwd || r.cwd != ""
	n.model = n.model || r.model != ""
	n.usage = n.usage || r.hasUsage && !r.synthetic
	n.prompt = n.prompt || r.human && r.kind == prompted
}

// settles says whether nothing before r matters to the turn's state. An answer
// is several records, one for each of its calls: its first one settles.
func (n *tailNeeds) settles(r *record) bool {
	switch r.kind {
	case prompted, answered, toolResult, interrupted, abandoned:
		if !n.first.IsZero() && !r.at.After(n.first) {
			return true
		}
	}
	switch r.kind {
	case prompted:
		if r.first() && n.first.IsZero() {
			n.first = r.at
			return n.first.IsZero()
		}
		return true
	case interrupted, abandoned:
		return true
	case toolResult:
		return n.answered
	case answered:
		if r.synthetic && !r.failed {
			return false
		}
		if r.failed || r.stop == "end_turn" || r.stop == "stop_sequence" || n.answered && r.message != n.answer {
			return true
		}
		n.answer, n.answered = r.message, true
	}
	return false
}

// finish looks at what stands after the last complete line and keeps what tells
// a later growth from a rewritten file.
func (t *transcript) finish(f *os.File, info fs.FileInfo) error {
	t.mark = make([]byte, min(markLen, t.next))
	if _, err := f.ReadAt(t.mark, t.next-int64(len(t.mark))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t.now, t.rest = t.facts, nil
	if n := info.Size() - t.next; n > 0 && n <= tailLimit {
		rest := make([]byte, n)
		if _, err := f.ReadAt(rest, t.next); err != nil {
			return fmt.Errorf("it was cut short while it was read: %w", err)
		}
		if rec, err := t.parse.parse(rest); err == nil {
			t.now, t.rest = t.facts.clone(), rest
			t.now.add(&rec)
		}
	}
	t.info = info
	return nil
}

// exact returns the sums over the whole file, reading what is missing of it.
// When ctx ends first it returns ctx's error, and goes on from there next time.
func (t *transcript) exact(ctx context.Context) (totals, error) {
	if t.sums.next < t.next {
		if err := t.sumUp(ctx); err != nil {
			return totals{}, err
		}
	}
	sums := t.sums
	if t.rest != nil {
		sums = t.sums.clone()
		sums.add(t.rest)
	}
	sums.seen = nil                              // the caller's copy doesn't go on
	if time.Since(t.info.ModTime()) > coolDown { // the ids are needed only to go on
		t.sums.seen, t.sums.last = nil, 0
	}
	return sums, nil
}

func (t *transcript) sumUp(ctx context.Context) error {
	if t.sums.seen == nil {
		t.sums = totals{}
	}
	f, info, err := openRegular(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !os.SameFile(info, t.info) || info.Size() < t.next {
		return errors.New("it was replaced while it was read")
	}
	upTo := io.NewSectionReader(f, 0, t.next)
	next, _, err := jsonl.ForwardLong(ctx, upTo, t.sums.next, 0, func(line []byte, _ int64) error {
		t.sums.add(line)
		return nil
	}, func(long *jsonl.LongLine) error {
		t.sums.unsure = t.sums.unsure || mayAnswer(long)
		return nil
	})
	t.sums.next = next
	if t.sums.seen == nil {
		t.sums.seen = make(map[uint64]struct{})
	}
	return err
}

// openRegular opens a file, refusing what isn't one: reading a pipe or a device
// never ends.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
