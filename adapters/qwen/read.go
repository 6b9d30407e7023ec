package qwen

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// restLimit bounds the unfinished last line that is read, in bytes.
const restLimit = 1 << 20

// transcript holds what was read of one file. It is kept between calls.
type transcript struct {
	agentfile.File
	facts, now facts // of the complete lines, and with the last one if it is complete but for its end
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
	if !t.HasGrown(f) {
		t.reset()
	}
	from := t.Next
	unfinished, err := t.lines(ctx, f, info)
	if err == nil && !unfinished {
		t.saved.Store(t.Path, &savedTranscript{t.State, t.facts}, t.Next-from)
	}
	return err
}

// lines reads the complete lines from Next on, and a last one without its end if it is a whole record.
func (t *transcript) lines(ctx context.Context, f *os.File, info fs.FileInfo) (unfinished bool, err error) {
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
		return false, err
	}
	rest, err := t.Finish(f, info, restLimit)
	t.now = t.facts
	t.now.ledger = t.facts.ledger.Clone()
	switch n, _ := agentfile.Records(rest, parse, t.now.apply); {
	case len(rest) == 0:
	case n > 0:
		unfinished = true
	case t.now.id == "": // the session is not listed: this says why
		unfinished = true
		t.now.skip("last record is not complete")
	}
	return unfinished, err
}

// errOther ends the reading of a file that does not begin as a session does.
var errOther = errors.New("not a session")

func (t *transcript) line(line []byte, _ int64) error {
	_, err := agentfile.Records(line, parse, t.facts.apply)
	switch {
	case t.facts.id == "":
		if err != nil {
			t.facts.skip("line that is not JSON")
		}
		return errOther
	case err != nil:
		t.facts.skip("line that is not JSON")
	}
	return nil
}
