package pistore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

const (
	wholeLimit = 128 << 10 // files up to here are read whole at once
	headLimit  = 128 << 10 // bytes from the beginning in which the first prompt is searched for
	tailLimit  = 64 << 10  // bytes from the end in which facts other than the turn's state are searched for
	// headerLimit is the number of bytes in which Pi itself searches for the header.
	headerLimit = 1 << 20
	backLimit   = 128 << 20 // the most bytes that are read from the end
	restLimit   = 1 << 20   // bytes that are read of an unfinished last line
)

// transcript holds what was read of one file. It is kept between calls. Pi only appends;
// pi_agent_rust writes a new file.
type transcript struct {
	agentfile.File
	facts      facts // of the complete lines
	now        facts // and of an unfinished last line
	whole      bool  // facts are of every line
	unfinished bool  // now has more than facts

	saved  *kit.Saved[savedTranscript]
	loaded bool // saved was searched for this file
}

func newTranscript(path string, saved *kit.Saved[savedTranscript]) *transcript {
	return &transcript{File: agentfile.NewFile(path), saved: saved}
}

// read brings the facts up to date. With exact, the sums cover the whole file. Without usage, the ledger may be missing.
func (t *transcript) read(ctx context.Context, info fs.FileInfo, exact, usage bool) (facts, error) {
	if err := ctx.Err(); err != nil {
		return facts{}, err
	}
	if err := t.Acquire(ctx); err != nil {
		return facts{}, err
	}
	defer t.Release()
	t.load()
	if usage && !t.saved.Fetch(t.Path, &t.now.ledger) || !t.IsCurrent(info) && !t.saved.Fetch(t.Path, &t.facts.ledger) {
		t.reset()
	}
	if t.IsCurrent(info) && (t.whole || !exact) {
		return t.now, nil
	}
	err := t.update(ctx, exact)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is being written again
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
	f, info, err := agentfile.OpenUntouched(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.Begin(f, info)
	if !t.HasGrown(f) || exact && !t.whole {
		t.reset()
	}
	from := t.Next
	switch {
	case t.Next > 0:
		err = t.forward(ctx, f, info.Size())
	case exact || info.Size() <= wholeLimit:
		t.whole = true
		err = t.forward(ctx, f, info.Size())
	default:
		err = t.readEnds(ctx, f, info.Size())
	}
	if err != nil {
		return err
	}
	if err := t.finish(f, info); err != nil {
		return err
	}
	read := t.Next - from
	if !t.whole {
		read = min(read, headLimit+tailLimit)
	}
	t.save(read)
	return nil
}

func (t *transcript) reset() {
	t.Reset()
	t.whole = false
	t.facts, t.now = facts{exact: true}, facts{}
}

// forward reads the complete lines from next on.
func (t *transcript) forward(ctx context.Context, f io.ReaderAt, size int64) error {
	next, _, err := agentfile.ForwardLong(ctx, f, t.Next, 0, t.line, func(long *agentfile.LongLine) error {
		t.facts.tooLong(long.Words(0))
		return nil
	})
	t.Next = next
	var long *agentfile.LongLine
	if errors.As(err, &long) { // the lines after it can't be read
		t.facts.tooLong(long.Words(size - long.Offset))
		return nil
	}
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

// line adds one line. A file whose first record is not a header is not a session: the
// rest of it isn't read. Lines that are not JSON may precede the header, as in Pi.
func (t *transcript) line(line []byte, offset int64) error {
	if r, err := parse(line); err == nil && t.facts.known {
		t.facts.apply(&r)
		return nil
	}
	other := false
	n, err := agentfile.Records(line, parse, func(r *record) {
		other = other || !t.facts.known && (r.kind != headerLine || r.head.id == "")
		if !other {
			t.facts.apply(r)
		}
	})
	if err != nil {
		t.facts.skip("line that is not JSON")
	}
	if other || n == 0 && !t.facts.known && offset > headerLimit {
		return errNoHeader
	}
	return nil
}

// tooLong records a line over the length limit, with its description.
func (f *facts) tooLong(line string) {
	f.skip("line over 64 MB")
	f.noteGap()
	f.longLine = line
}

// readEnds reads a large file's head and tail.
func (t *transcript) readEnds(ctx context.Context, f io.ReaderAt, size int64) error {
	head := io.NewSectionReader(f, 0, headLimit+headerLimit) // the limit for a file without any complete line
	headEnd, _, err := agentfile.ForwardLong(ctx, head, 0, 0, func(line []byte, offset int64) error {
		if offset > headLimit || t.facts.firstPrompt != "" {
			return errEnough
		}
		return t.line(line, offset)
	}, func(*agentfile.LongLine) error { return errEnough })
	err = stopped(err)
	if err != nil {
		return err
	}
	t.Next = headEnd
	if !t.facts.known && headEnd == 0 {
		return t.noteEndlessLine(ctx, f, size)
	}
	if !t.facts.known || headEnd >= size {
		return nil
	}
	records, first, next, err := t.tail(ctx, f, headEnd, size)
	if err != nil {
		return err
	}
	if first > headEnd {
		t.facts.noteGap()
		if len(records) == 0 {
			t.facts.tooLong((&agentfile.LongLine{Endless: true}).Words(size - headEnd))
		}
	}
	for i := range records {
		switch r := &records[i]; {
		case r.long != "":
			t.facts.tooLong(r.long)
		case r.garbage:
			t.facts.skip("line that is not JSON")
		default:
			t.facts.apply(&r.record)
		}
	}
	t.Next = next
	return nil
}

// noteEndlessLine records the unfinished line of a file in whose beginning no line
// ends.
func (t *transcript) noteEndlessLine(ctx context.Context, f io.ReaderAt, size int64) error {
	_, offset, err := agentfile.Backward(f, size, 0).WithContext(ctx).Prev()
	var long *agentfile.LongLine
	switch {
	case errors.As(err, &long) && (long.Endless || offset == 0):
		t.facts.tooLong(long.Words(size))
		return nil
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// tailRecord is a line of the tail.
type tailRecord struct {
	record
	long    string // description of a line over the length limit
	garbage bool
}

// settles reports whether no record before this one matters to the turn's state.
func (r *tailRecord) settles() bool {
	switch r.kind {
	case prompted, summarised, toolDone:
		return true
	case answered:
		return r.stop != "error"
	}
	return false
}

// tail reads backwards until the state of the last turn is known, and, within a limit,
// the other facts that each record contains. The records are in the file's order; first
// is the offset of the first, next the end of the last complete line.
func (t *transcript) tail(ctx context.Context, f io.ReaderAt, headEnd, size int64) (records []tailRecord, first, next int64, err error) {
	next = size
	settled := false
	base := max(headEnd, size-backLimit)
	b := agentfile.Backward(io.NewSectionReader(f, base, size-base), size-base, 0).WithContext(ctx)
	defer b.Close()
	for {
		line, offset, err := b.Prev()
		offset += base
		var long *agentfile.LongLine
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
			if long == nil {
				continue
			}
		}
		first = offset
		if long != nil {
			settled = true // earlier turns are not the last one
			records = append(records, tailRecord{long: long.Words(size - headEnd)})
		} else {
			for _, r := range lineBackward(line) {
				settled = settled || r.settles()
				records = append(records, r)
			}
		}
		if settled && size-offset >= tailLimit {
			slices.Reverse(records)
			return records, first, next, nil
		}
	}
}

// lineBackward returns the records of a line, the last one first.
func lineBackward(line []byte) (list []tailRecord) {
	_, err := agentfile.Records(line, parse, func(r *record) { list = append(list, tailRecord{record: *r}) })
	if err != nil {
		list = slices.Insert(list, 0, tailRecord{garbage: true})
	}
	slices.Reverse(list)
	return list
}

// finish adds the text after the last complete line, if it is a whole record.
func (t *transcript) finish(f *os.File, info fs.FileInfo) error {
	limit := int64(restLimit)
	if !t.facts.known && t.Next > 0 {
		limit = 0
	}
	rest, err := t.Finish(f, info, limit)
	t.now, t.unfinished = t.facts, false
	t.now.ledger = t.facts.ledger.Clone()
	_, _ = agentfile.Records(rest, parse, func(r *record) {
		if t.now.known || r.kind == headerLine {
			t.unfinished = true
			t.now.apply(r) // a killed Pi leaves the newline out; Pi adds it when it opens the file
		}
	})
	return err
}

// factsFormat is the version of the facts of sessions. It must be raised when the same fields get
// another meaning. Both agents read the same files and share what is kept of them.
const (
	factsFormat = 4
	factsName   = "pi"
)

// savedTranscript is what is kept of a session's file between processes.
type savedTranscript struct {
	state agentfile.State
	facts facts
	whole bool
}

// load takes what an earlier process read, if this one has read nothing yet. The caller checks it
// against the file.
func (t *transcript) load() {
	if t.loaded {
		return
	}
	t.loaded = true
	if known, ok := t.saved.Load(t.Path); ok {
		t.State = known.state
		t.facts = known.facts
		t.now = known.facts
		t.whole = known.whole
		t.now.ledger = t.facts.ledger.Clone()
	}
}

// save keeps what was read for other processes; read is the number of bytes that were read for
// it. An unfinished last line is not kept: it alone is read again.
func (t *transcript) save(read int64) {
	state := t.State
	if t.unfinished {
		state = t.Complete()
	}
	known := savedTranscript{state, t.facts, t.whole}
	t.saved.Store(t.Path, &known, &known.facts.ledger, read)
	t.facts.ledger = known.facts.ledger
}
