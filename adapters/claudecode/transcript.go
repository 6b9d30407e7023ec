package claudecode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/adapters/internal/agentfile"
)

const (
	wholeLimit = 128 << 10 // files up to here are read whole
	headLimit  = 2 << 20   // bytes from the beginning in which the first prompt is searched for
	tailLimit  = 256 << 10 // bytes from the end in which facts other than the turn's state are searched for
	turnLimit  = 64 << 20  // bytes from the end in which the prompt of the last turn is searched for
)

// transcript holds what was read of one transcript file. It is kept between calls.
type transcript struct {
	agentfile.File
	facts facts // of the complete lines
	now   facts // and of an unfinished last line
	sums  totals
	rest  []byte // the unfinished last line, when it is a whole record
	parse parser

	saved  *savedTranscripts
	loaded bool // saved was searched for this transcript
}

// read brings the facts up to date. It reads a small file whole, and of a large file
// the head and as much of the tail as is needed.
func (t *transcript) read(ctx context.Context, info fs.FileInfo) error {
	t.load()
	if t.IsCurrent(info) {
		return nil
	}
	f, info, err := agentfile.OpenRegular(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.Begin(f, info)
	if !t.HasGrown(f) {
		t.reset()
	}
	size, from := info.Size(), t.Next
	switch {
	case t.Next > 0 || size <= wholeLimit:
		err = t.forward(ctx, f)
	default:
		err = t.ends(ctx, f, size)
	}
	if err == nil {
		err = t.finish(f, info)
	}
	if err != nil {
		t.reset()
		return err
	}
	t.save(min(size-from, headLimit+tailLimit))
	return nil
}

func (t *transcript) reset() {
	t.Reset()
	t.facts = facts{}
	t.now = facts{}
	t.sums = totals{}
	t.rest = nil
}

// forward reads the complete lines from next on.
func (t *transcript) forward(ctx context.Context, f *os.File) error {
	inStep := t.sums.next == t.Next && t.fetch()
	next, _, err := agentfile.ForwardLong(ctx, f, t.Next, 0, func(line []byte, offset int64) error {
		t.facts.gapped = t.facts.gapped || offset > headLimit && t.facts.firstPrompt == "" // no other reader finds it there
		t.line(line)
		t.facts.turn.placeWakes(offset)
		if inStep {
			t.sums.add(line)
		}
		return nil
	}, func(long *agentfile.LongLine) error {
		t.facts.tooLong(long.Words(0))
		t.sums.unsure = t.sums.unsure || mayAnswer(long)
		return nil
	})
	if err != nil {
		return err
	}
	t.Next = next
	if inStep {
		t.sums.next = next
	}
	return nil
}

const longReason = "line over 64 MB"

func (t *transcript) line(line []byte) {
	rec, err := t.parse.parse(line)
	if err == nil {
		t.facts.add(&rec)
		return
	}
	_, err = agentfile.Records(line, t.parse.parse, t.facts.add)
	if err != nil {
		t.facts.skip("line that is not JSON")
	}
}

// addBackward adds the records of a line to list, the last one first.
func (t *transcript) addBackward(list []tailRecord, line []byte, offset int64) []tailRecord {
	r, err := t.parse.parse(line)
	if err == nil {
		return append(list, tailRecord{record: r, offset: offset})
	}
	from := len(list)
	_, err = agentfile.Records(line, t.parse.parse, func(r *record) { list = append(list, tailRecord{record: *r, offset: offset}) })
	if err != nil {
		list = slices.Insert(list, from, tailRecord{offset: offset, invalid: true})
	}
	slices.Reverse(list[from:])
	return list
}

var errEnough = errors.New("enough")

// ends reads the head and the tail of a large file.
func (t *transcript) ends(ctx context.Context, f *os.File, size int64) error {
	headEnd, _, err := agentfile.ForwardLong(ctx, f, 0, 0, func(line []byte, offset int64) error {
		if offset > 0 && (offset > headLimit || t.facts.firstPrompt != "" && !t.facts.started.IsZero()) {
			return errEnough
		}
		t.line(line)
		return nil
	}, func(*agentfile.LongLine) error { return errEnough })
	if err != nil && !errors.Is(err, errEnough) && !errors.Is(err, agentfile.ErrTooLong) {
		return err
	}
	pooled := tails.Get().(*[]tailRecord)
	records, next, noPrompt, err := t.tail(ctx, f, (*pooled)[:0], headEnd, size)
	defer func() {
		clear(records)
		*pooled = records
		tails.Put(pooled)
	}()
	if err != nil {
		return err
	}
	if len(records) > 0 && records[0].offset > headEnd || len(records) == 0 && next > headEnd {
		prompt, at := t.facts.lastPrompt, t.facts.promptAt
		if t.facts.gap(); noPrompt {
			t.facts.lastPrompt, t.facts.promptAt = prompt, at
		}
	}
	for i := range records {
		switch r := &records[i]; {
		case r.long != "":
			t.facts.tooLong(r.long)
		case r.invalid:
			t.facts.skip("line that is not JSON")
		default:
			t.facts.add(&r.record)
			t.facts.turn.placeWakes(r.offset)
		}
	}
	t.Next = next
	return nil
}

// tailRecord is a line of the tail.
type tailRecord struct {
	record
	offset  int64
	long    string // description of a line over the length limit
	invalid bool
}

// tails holds lists that tail has used, so that thousands of transcripts need few.
var tails = sync.Pool{New: func() any { return new([]tailRecord) }}

// tail reads backwards until the state of the last turn is known, and, within a limit,
// the other facts that each record contains. The records are in the file's order; next
// is the end of the last complete line. noPrompt reports that no prompt is between headEnd and the first of the records.
// The records are appended to an empty list.
func (t *transcript) tail(ctx context.Context, f io.ReaderAt, list []tailRecord, headEnd, size int64) (records []tailRecord, next int64, noPrompt bool, err error) {
	var have tailNeeds
	records = list
	b := agentfile.Backward(f, size, 0).WithContext(ctx)
	defer b.Close()
	isFar := false // other facts than those of the turn are searched for no further
	next, _, err = b.Tail(headEnd, func(line []byte, offset int64, long *agentfile.LongLine) bool {
		if long != nil {
			have.turn = true // earlier turns are not the last one
			have.other = true
			records = append(records, tailRecord{offset: offset, long: long.Words(offset + long.Length - headEnd)})
		} else {
			from := len(records)
			records = t.addBackward(records, line, offset)
			for i := range records[from:] {
				have.note(&records[from+i].record)
			}
		}
		have.reached(offset)
		isFar = have.turn && size-offset >= tailLimit && !have.mayRepeat()
		return !isFar && !have.all()
	})
	if err == nil && isFar && !have.prompt {
		var prompt []tailRecord
		prompt, noPrompt, err = t.promptBefore(b, headEnd, size-turnLimit)
		records = append(records, prompt...)
	}
	slices.Reverse(records)
	return records, next, noPrompt, err
}

// ofUser is in the records of what the user typed, and of results of tools; ofResult only in the latter, since a text's quotes are escaped.
var ofUser, ofResult = []byte(`"type":"user"`), []byte(`"type":"tool_result"`)

// promptBefore reads backwards to the prompt of the last turn, and returns its record, or the two of a slash command with its text, the last one first.
// Lines before limit are not read; none reports that headEnd was reached without a prompt.
func (t *transcript) promptBefore(b *agentfile.BackwardReader, headEnd, limit int64) (found []tailRecord, none bool, err error) {
	for {
		line, offset, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF) || err == nil && offset < headEnd:
			return nil, true, nil
		case errors.Is(err, agentfile.ErrTooLong) || offset < limit:
			return nil, false, nil
		case err != nil:
			return nil, false, err
		case !isOfUser(line):
			continue
		}
		r := tailRecord{offset: offset}
		r.record, err = t.parse.parse(line)
		if err != nil || r.sidechain {
			continue
		}
		switch {
		case r.kind == prompted && r.human:
			return []tailRecord{r}, false, nil
		case r.kind == commanded && r.synthetic:
			found = []tailRecord{r}
		case r.kind == commanded && len(found) == 1 && found[0].parent == r.id && r.id != 0:
			return append(found, r), false, nil
		}
	}
}

// isOfUser reports whether a line may be a prompt. Its type is beside the message, which can be long.
func isOfUser(line []byte) bool {
	const edge = 1 << 10
	if head := line[:min(len(line), edge)]; bytes.Contains(head, ofUser) {
		return !bytes.Contains(head, ofResult)
	}
	return len(line) > edge && bytes.Contains(line[max(edge-len(ofUser), len(line)-edge):], ofUser)
}

// tailNeeds records which facts were found so far while a transcript is read backwards.
type tailNeeds struct {
	turn, cwd, model, prompt, usage, time bool

	answer   uint64 // message id of the last answer
	answered bool
	calls    noted     // the same call, backwards
	other    bool      // another call, or the prompt of the turn, is before them
	first    time.Time // of a first prompt, whose answer may come before it
	firstAt  int64     // where that prompt is
}

// reached records how far the reading has come: what says nothing of the turn for long enough says nothing of it further back.
func (n *tailNeeds) reached(offset int64) {
	switch {
	case n.first.IsZero():
		n.firstAt = offset
	case n.firstAt-offset > tailLimit:
		n.turn = true
	}
}

// mayRepeat reports whether the calls that were read are the same and too few to tell whether the turn repeats itself.
func (n *tailNeeds) mayRepeat() bool {
	return !n.other && n.calls.times < sameCall
}

func (n *tailNeeds) all() bool {
	return !n.mayRepeat() && n.turn && n.cwd && n.model && n.prompt && n.usage && n.time
}

func (n *tailNeeds) note(r *record) {
	n.time = n.time || !r.at.IsZero()
	if r.sidechain {
		return
	}
	n.turn = n.turn || n.settles(r)
	n.other = n.other || r.kind == prompted || r.kind == interrupted || r.kind == abandoned
	for i := range r.uses {
		n.other = n.other || n.calls.times > 0 && r.uses[i].call != n.calls.call
		if !n.other {
			n.calls.add(&r.uses[i])
		}
	}
	n.cwd = n.cwd || r.cwd != ""
	n.model = n.model || r.model != ""
	n.usage = n.usage || r.hasUsage && !r.synthetic
	n.prompt = n.prompt || r.human && r.kind == prompted
}

// settles reports whether no record before r matters to the turn. An answer consists of several records, between which there can be results of its calls: the
// first of them has what the model said, so that only a record before it settles the turn.
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
	case answered:
		if r.synthetic && !r.failed {
			return false
		}
		if r.failed || n.answered && r.message != n.answer {
			return true
		}
		n.answer, n.answered = r.message, true
	}
	return false
}

// finish adds the text after the last complete line, if it is a whole record.
func (t *transcript) finish(f *os.File, info fs.FileInfo) error {
	rest, err := t.Finish(f, info, tailLimit)
	t.now, t.rest = t.facts, nil
	if len(rest) > 0 {
		now := t.facts.clone()
		if n, _ := agentfile.Records(rest, t.parse.parse, now.add); n > 0 {
			t.now, t.rest = now, rest
		}
	}
	return err
}

// exact returns the sums over the whole file, to which the caller must not add; without ledger, their ledger may be missing. It reads the parts that were not read
// yet. When ctx ends first it returns ctx's error, and the next call continues from
// there.
func (t *transcript) exact(ctx context.Context, ledger bool) (totals, error) {
	if ledger || t.rest != nil || t.sums.next < t.Next {
		t.fetch()
	}
	if from := t.sums.next; from < t.Next {
		if err := t.sumUp(ctx); err != nil {
			return totals{}, err
		}
		defer func() { t.save(t.Next - from) }()
	}
	if t.rest != nil {
		sums := t.sums.clone()
		sums.add(t.rest)
		sums.tokens = sums.ledger.Tokens()
		return sums, nil
	}
	if t.sums.tokensAt != t.sums.next {
		t.sums.count()
	}
	return t.sums, nil
}

// fetch loads the ledger, to which entries can be added then. If it is missing, the sums begin again, and fetch returns false.
func (t *transcript) fetch() bool {
	ok := t.saved.Fetch(t.Path, &t.sums.ledger)
	if !ok {
		t.sums = totals{}
	}
	return ok
}

func (t *transcript) sumUp(ctx context.Context) error {
	f, info, err := agentfile.OpenRegular(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if t.Begin(f, info); !t.IsOpened() || info.Size() < t.Next {
		return errors.New("it was replaced while it was read")
	}
	upTo := io.NewSectionReader(f, 0, t.Next)
	next, _, err := agentfile.ForwardLong(ctx, upTo, t.sums.next, 0, func(line []byte, _ int64) error {
		t.sums.add(line)
		return nil
	}, func(long *agentfile.LongLine) error {
		t.sums.unsure = t.sums.unsure || mayAnswer(long)
		return nil
	})
	if errors.Is(err, agentfile.ErrTooLong) { // the lines after it can't be read
		next, err = t.Next, nil
		t.sums.unsure = true
	}
	t.sums.next = next
	return err
}
