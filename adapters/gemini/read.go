package gemini

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// restLimit bounds the unfinished last line that is read, in bytes.
const restLimit = 1 << 20

// transcript holds what was read of one file. It is kept between calls.
type transcript struct {
	agentfile.File
	facts, now facts // of the complete lines, and with the last one if it is complete but for its end
	unfinished bool
	saved      *factcache.Facts[savedTranscript]
	loaded     bool
}

// savedTranscript is what is kept of a session's file between processes. factsFormat is the version of its meaning.
type savedTranscript struct {
	state agentfile.State
	facts facts
}

const factsFormat = 2

func newTranscript(path string, saved *factcache.Facts[savedTranscript]) *transcript {
	return &transcript{File: agentfile.NewFile(path), saved: saved}
}

// isObject reports whether a file is one object, as before Gemini CLI wrote lines (0.29.0).
func isObject(path string) bool { return strings.HasSuffix(path, ".json") }

// read brings the facts up to date.
func (t *transcript) read(ctx context.Context, info fs.FileInfo) (facts, error) {
	if err := agentfile.Ended(ctx); err != nil {
		return facts{}, err
	}
	if err := t.Acquire(ctx); err != nil {
		return facts{}, err
	}
	defer t.Release()
	if !t.loaded {
		t.loaded = true
		if known, ok := t.saved.Load(t.Path); ok {
			t.State, t.facts, t.now = known.state, known.facts, known.facts
			t.now.ledger = t.facts.ledger.Clone()
		}
	}
	if t.IsCurrent(info) {
		return t.now, nil
	}
	err := t.update(ctx)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is being written again
		t.reset()
		err = t.update(ctx)
	}
	if err != nil {
		t.reset()
		return facts{}, err
	}
	return t.now, nil
}

func (t *transcript) reset() {
	t.Reset()
	t.facts, t.now = facts{exact: true}, facts{}
}

func (t *transcript) update(ctx context.Context) error {
	f, info, err := agentfile.OpenUntouched(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.Begin(f, info)
	if isObject(t.Path) || !t.HasGrown(f) {
		t.reset()
	}
	from := t.Next
	if isObject(t.Path) {
		err = t.object(f, info)
	} else {
		err = t.lines(ctx, f, info)
	}
	if err == nil && !t.unfinished {
		t.saved.Store(t.Path, &savedTranscript{t.State, t.facts}, t.Next-from)
	}
	return err
}

// object reads a file that is one object. 0.29.0 writes it again in place.
func (t *transcript) object(f *os.File, info fs.FileInfo) error {
	if info.Size() > agentfile.MaxLine {
		return &fs.PathError{Op: "read", Path: t.Path, Err: agentfile.ErrTooLarge}
	}
	data, err := io.ReadAll(io.LimitReader(f, agentfile.MaxLine))
	if err != nil {
		return err
	}
	records, err := parseObject(bytes.TrimSpace(agentfile.WithoutMark(data)))
	if err != nil {
		t.facts.longLine = "it is not complete, or not an object with messages"
	}
	for i := range records {
		t.facts.apply(&records[i])
	}
	t.Next = info.Size()
	if _, err = t.Finish(f, info, 0); err != nil {
		return err
	}
	t.now, t.unfinished = t.facts, len(records) == 0
	t.now.ledger = t.facts.ledger.Clone()
	return nil
}

// lines reads the complete lines from Next on, and a last one without its end if it is a whole record.
func (t *transcript) lines(ctx context.Context, f *os.File, info fs.FileInfo) error {
	next, _, err := agentfile.ForwardLong(ctx, f, t.Next, 0, t.line, func(long *agentfile.LongLine) error {
		t.facts.tooLong(long.Words(0))
		return nil
	})
	t.Next = next
	var long *agentfile.LongLine
	if errors.As(err, &long) { // the lines after it can't be read
		t.facts.tooLong(long.Words(info.Size() - long.Offset))
		err = nil
	}
	if err != nil && !errors.Is(err, errOther) {
		return err
	}
	rest, err := t.Finish(f, info, restLimit)
	t.now, t.unfinished = t.facts, false
	t.now.ledger = t.facts.ledger.Clone()
	switch n, _ := agentfile.Records(rest, parse, t.now.apply); {
	case len(rest) == 0:
	case n > 0:
		t.unfinished = true
	case !t.now.messages: // the session is not listed: this says why
		t.unfinished = true
		t.now.skip("last record is not complete")
	}
	return err
}

// errOther ends the reading of a file that does not begin as a session does.
var errOther = errors.New("not a session")

func (t *transcript) line(line []byte, _ int64) error {
	other := false
	n, err := agentfile.Records(line, parse, func(r *record) {
		if other = other || !t.facts.known && r.kind == unknown; !other {
			t.facts.apply(r)
		}
	})
	switch {
	case other, n == 0 && !t.facts.known:
		t.facts.skip("file without a session header")
		return errOther
	case err != nil:
		t.facts.skip("line that is not JSON")
	}
	return nil
}
