package pistore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"rollcall/adapters/internal/jsonl"
)

const (
	wholeLimit = 128 << 10 // files up to here are read whole at once
	headLimit  = 128 << 10 // how far the first prompt is looked for
	tailLimit  = 64 << 10  // how far back more than the turn's state is looked for
	growLimit  = 8 << 20   // more new bytes than this are read as if the file were new
	// headerLimit is how far Pi itself looks for the header.
	headerLimit = 1 << 20
	backLimit   = 128 << 20 // how far back at all
	restLimit   = 1 << 20   // how much of an unfinished last line is looked at
	markLen     = 256
)

// transcript is what is known of one file, kept between questions. Pi appends
// only, so what was read once stays true while the file is the same and its
// bytes before next are; pi_agent_rust writes a new file. Whoever holds the lock
// may use it.
type transcript struct {
	lock chan struct{}
	path string
	used uint64 // the question that needed it last

	info  fs.FileInfo // when it was read last; nil: never
	next  int64       // the complete lines up to here are in facts
	mark  []byte      // the bytes before next
	facts facts       // of the complete lines
	now   facts       // and of an unfinished last line
	whole bool        // facts are of every line
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

// read brings the facts up to date; exact: with the sums over the whole file.
func (t *transcript) read(ctx context.Context, info fs.FileInfo, exact bool) (facts, error) {
	if err := ctx.Err(); err != nil {
		return facts{}, err
	}
	if err := t.acquire(ctx); err != nil {
		return facts{}, err
	}
	defer t.release()
	if t.current(info) && (t.whole || !exact) {
		return t.now, nil
	}
	err := t.update(ctx, exact)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is being written anew
		t.reset()
		err = t.update(ctx, exact)
	}
	if err != nil {
		t.reset()
		return facts{}, err
	}
	return t.now, nil
}

func (t *transcript) update(ctx context.Context, exact bool) error {
	f, info, err := openRegular(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !t.grew(f, info) || exact && !t.whole {
		t.reset()
	}
	switch {
	case t.next > 0:
		err = t.forward(ctx, f)
	case exact || info.Size() <= wholeLimit:
		t.whole = true
		err = t.forward(ctx, f)
	default:
		err = t.ends(ctx, f, info.Size())
	}
	if err != nil {
		return err
	}
	return t.finish(f, info)
}

func (t *transcript) reset() {
	t.info, t.next, t.mark, t.whole = nil, 0, nil, false
	t.facts, t.now = facts{exact: true}, facts{}
}

// grew says whether the open file is the known one with something appended.
func (t *transcript) grew(f *os.File, info fs.FileInfo) bool {
	if t.info == nil || !os.SameFile(t.info, info) || info.Size() < t.info.Size() || info.Size()-t.next > growLimit {
		return false
	}
	mark := make([]byte, len(t.mark))
	_, err := f.ReadAt(mark, t.next-int64(len(mark)))
	return err == nil && bytes.Equal(mark, t.mark)
}

// forward reads the complete lines from next on.
func (t *transcript) forward(ctx context.Context, f io.ReaderAt) error {
	next, _, err := jsonl.ForwardLong(ctx, f, t.next, 0, func(line []byte, offset int64) error {
		return t.line(line, offset)
	}, func(*jsonl.LongLine) error {
		t.facts.tooLong()
		return nil
	})
	t.next = next
	return stopped(err)
}

var (
	errEnough   = errors.New("enough")
	errNoHeader = errors.New("no session header")
)

func stopped(err error) error {
	if errors.Is(err, errEnough) || errors.Is(err, errNoHeader) {
		return nil
	}
	return err
}

// line adds one line. A file whose first record is no header is no session: the
// rest of it isn't read. Lines that are no JSON may stand before the header, as
// Pi has it.
func (t *transcript) line(line []byte, offset int64) error {
	r, err := parse(line)
	switch {
	case err != nil:
		t.facts.skip("line that is not JSON")
		if !t.facts.known && offset > headerLimit {
			return errNoHeader
		}
		return nil
	case !t.facts.known && (r.kind != headerLine || r.head.id == ""):
		return errNoHeader
	}
	t.facts.apply(&r)
	return nil
}

func (f *facts) tooLong() {
	f.skip("line over 64 MB")
	f.gap()
}

// ends reads a large file's head and tail.
func (t *transcript) ends(ctx context.Context, f io.ReaderAt, size int64) error {
	head := io.NewSectionReader(f, 0, headLimit+headerLimit) // no more, if there are no lines at all
	headEnd, _, err := jsonl.ForwardLong(ctx, head, 0, 0, func(line []byte, offset int64) error {
		if offset > headLimit || t.facts.firstPrompt != "" {
			return errEnough
		}
		return t.line(line, offset)
	}, func(*jsonl.LongLine) error { return errEnough })
	if err = stopped(err); err != nil {
		return err
	}
	t.next = headEnd
	if !t.facts.known || headEnd >= size {
		return nil
	}
	records, first, next, err := t.tail(ctx, f, headEnd, size)
	if err != nil {
		return err
	}
	if first > headEnd {
		t.facts.gap()
	}
	for i := range records {
		switch r := &records[i]; {
		case r.long:
			t.facts.tooLong()
		case r.garbage:
			t.facts.skip("line that is not JSON")
		default:
			t.facts.apply(&r.record)
		}
	}
	t.next = next
	return nil
}

// tailRecord is a line of the tail.
type tailRecord struct {
	record
	long, garbage bool
}

// settles says whether nothing before it matters to the turn's state.
func (r *tailRecord) settles() bool {
	switch r.kind {
	case prompted, summarised, toolDone:
		return true
	case answered:
		return r.stop != "error"
	}
	return false
}

// tail reads backwards until the state of the last turn is known, and, within a
// limit, what else is told per record. The records are in the file's order; first
// is the offset of the first, next the end of the last complete line.
func (t *transcript) tail(ctx context.Context, f io.ReaderAt, headEnd, size int64) (records []tailRecord, first, next int64, err error) {
	next = size
	settled := false
	base := max(headEnd, size-backLimit)
	b := jsonl.Backward(io.NewSectionReader(f, base, size-base), size-base, 0).WithContext(ctx)
	for {
		line, offset, err := b.Prev()
		offset += base
		var long *jsonl.LongLine
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &long):
			return nil, 0, 0, err
		case errors.Is(err, io.EOF), offset == base && base > headEnd: // all is read, or the end of a line
			slices.Reverse(records)
			if len(records) == 0 {
				next = headEnd
			}
			return records, base, next, nil
		}
		if b.Partial() {
			next = offset
			continue
		}
		r := tailRecord{long: long != nil}
		if r.long {
			settled = true // what came before isn't the last
		} else {
			r.record, err = parse(line)
			r.garbage = err != nil
		}
		records, first = append(records, r), offset
		settled = settled || r.settles()
		if settled && size-offset >= tailLimit {
			slices.Reverse(records)
			return records, first, next, nil
		}
	}
}

// finish looks at what stands after the last complete line and keeps what tells
// a later growth from a rewritten file.
func (t *transcript) finish(f *os.File, info fs.FileInfo) error {
	t.mark = make([]byte, min(markLen, t.next))
	if _, err := f.ReadAt(t.mark, t.next-int64(len(t.mark))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t.now, t.info = t.facts, info
	n := info.Size() - t.next
	if n <= 0 || n > restLimit || !t.facts.known && t.next > 0 {
		return nil
	}
	rest := make([]byte, n)
	if _, err := f.ReadAt(rest, t.next); err != nil {
		return fmt.Errorf("it was cut short while it was read: %w", io.ErrUnexpectedEOF)
	}
	if r, err := parse(rest); err == nil && (t.now.known || r.kind == headerLine) {
		t.now.apply(&r) // a killed Pi leaves the newline out; Pi adds it when it opens the file
	}
	return nil
}

// checkRegular refuses what isn't a file: reading a pipe or a device never ends.
func checkRegular(f *os.File, path string) (*os.File, fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
