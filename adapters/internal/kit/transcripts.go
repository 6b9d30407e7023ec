package kit

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// restLimit bounds the unfinished last line of a file that is read, in bytes.
const restLimit = 1 << 20

// ErrOther ends the reading of a file that does not begin as a session does.
var ErrOther = errors.New("not a session")

// LongLine is the reason for which a line is skipped that is too long to be read.
const LongLine = "line over 64 MB"

// Gatherer is a pointer to facts of type T, which a file of lines gives. The zero value of T are the facts of an empty file.
type Gatherer[T any] interface {
	*T
	// Line adds a complete record. ErrOther ends the reading.
	Line(line []byte) error
	// Long records that a line could not be read, with its description.
	Long(words string)
	// Partial records that the last line is no complete record.
	Partial()
	// Clone returns facts to which records can be added without changing these.
	Clone() T
	// SkippedRecords returns how many records are not used, by reason.
	SkippedRecords() map[string]int
}

// Skips counts the records of a file that are not used, by reason. Facts embed it.
type Skips struct{ skipped map[string]int }

// Skip counts a record.
func (s *Skips) Skip(reason string) { s.skipped = CountSkipped(s.skipped, reason) }

// SkippedRecords implements Gatherer.
func (s *Skips) SkippedRecords() map[string]int { return s.skipped }

// OneRecord is embedded by the facts of a file that is one record, or of one whose lines are of no use where they can't be read.
type OneRecord struct{}

// SkippedRecords implements Gatherer.
func (OneRecord) SkippedRecords() map[string]int { return nil }

// Long implements Gatherer.
func (OneRecord) Long(string) {}

// Partial implements Gatherer.
func (OneRecord) Partial() {}

// Transcripts keeps what was read of files that agents append lines to. A file whose name ends with .json is one record, which is written
// again as a whole. It is safe for concurrent use.
type Transcripts[T any, P Gatherer[T]] struct {
	saved *factcache.Facts[savedTranscript[T]]
	mu    sync.Mutex
	files agentfile.Cache[*transcript[T, P]]
}

// savedTranscript is what is kept of a file between processes.
type savedTranscript[T any] struct {
	state agentfile.State
	facts T
}

// transcript is what was read of one file.
type transcript[T any, P Gatherer[T]] struct {
	agentfile.File
	facts  T // of the complete lines
	now    T // and of an unfinished last line that is a whole record
	saved  *factcache.Facts[savedTranscript[T]]
	loaded bool
}

// NewTranscripts returns the transcripts of an agent, whose facts are kept in cache, which may be nil. format must be raised when the same
// fields of T get another meaning.
func NewTranscripts[T any, P Gatherer[T]](cache *factcache.Cache, agent adapters.Name, format int) *Transcripts[T, P] {
	return &Transcripts[T, P]{saved: factcache.Of[savedTranscript[T]](cache, string(agent), format)}
}

// Read returns the facts of a file. Only what was added to it since is read. once reports that they need not be kept.
func (t *Transcripts[T, P]) Read(ctx context.Context, path string, info fs.FileInfo, once bool) (T, error) {
	fresh := func(path string) *transcript[T, P] {
		return &transcript[T, P]{File: agentfile.NewFile(path), saved: t.saved}
	}
	if once {
		return fresh(path).read(ctx, info)
	}
	t.mu.Lock()
	file := t.files.Get(path, fresh)
	t.mu.Unlock()
	return file.read(ctx, info)
}

// End must be called at the end of each question.
func (t *Transcripts[T, P]) End(q *adapters.Query) {
	q.AfterAnswer(func() { t.saved.Flush(q.Once) })
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files.Trim(); q.Once {
		t.files = agentfile.Cache[*transcript[T, P]]{}
	}
}

func (t *transcript[T, P]) read(ctx context.Context, info fs.FileInfo) (none T, err error) {
	if err := agentfile.Ended(ctx); err != nil {
		return none, err
	}
	if err := t.Acquire(ctx); err != nil {
		return none, err
	}
	defer t.Release()
	if !t.loaded {
		t.loaded = true
		if known, ok := t.saved.Load(t.Path); ok {
			t.State = known.state
			t.facts = known.facts
			t.now = P(&known.facts).Clone()
		}
	}
	if t.IsCurrent(info) {
		return t.now, nil
	}
	err = t.update(ctx)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is being written again
		t.reset()
		err = t.update(ctx)
	}
	if err != nil {
		t.reset()
		return none, err
	}
	return t.now, nil
}

func (t *transcript[T, P]) reset() {
	var none T
	t.Reset()
	t.facts, t.now = none, none
}

func (t *transcript[T, P]) update(ctx context.Context) error {
	f, info, err := agentfile.OpenUntouched(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.Begin(f, info)
	whole := isOneRecord(t.Path)
	if whole || !t.HasGrown(f) {
		t.reset()
	}
	from := t.Next
	t.facts = P(&t.facts).Clone()
	if whole {
		err = t.object(f, info)
	} else {
		err = t.lines(ctx, f, info)
	}
	if err != nil && !errors.Is(err, ErrOther) {
		return err
	}
	isOther := err != nil
	rest, err := t.Finish(f, info, restLimit)
	if err != nil {
		return err
	}
	t.now = P(&t.facts).Clone()
	switch {
	case len(rest) == 0 || isOther:
		t.saved.Store(t.Path, &savedTranscript[T]{t.State, t.facts}, t.Next-from)
		return nil
	case !agentfile.HasRecord(rest):
		P(&t.now).Partial()
	default:
		_ = P(&t.now).Line(rest) // the next look, which finds the line complete, ends the reading
	}
	t.saved.Store(t.Path, &savedTranscript[T]{t.Complete(), t.facts}, t.Next-from)
	return nil
}

// lines reads the complete lines from Next on.
func (t *transcript[T, P]) lines(ctx context.Context, f *os.File, info fs.FileInfo) (err error) {
	facts := P(&t.facts)
	t.Next, _, err = agentfile.ForwardLong(ctx, f, t.Next, 0, func(line []byte, _ int64) error { return facts.Line(line) },
		func(long *agentfile.LongLine) error {
			facts.Long(long.Words(0))
			return nil
		})
	var long *agentfile.LongLine
	if errors.As(err, &long) { // the lines after it can't be read
		facts.Long(long.Words(info.Size() - long.Offset))
		return nil
	}
	return err
}

// object reads a file that is one record.
func (t *transcript[T, P]) object(f *os.File, info fs.FileInfo) error {
	if info.Size() > agentfile.MaxLine {
		return &fs.PathError{Op: "read", Path: t.Path, Err: agentfile.ErrTooLarge}
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return err
	}
	t.Next = info.Size()
	return P(&t.facts).Line(agentfile.WithoutMark(data))
}
