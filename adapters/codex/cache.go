package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// cache keeps what was read of each rollout, for as long as the file is the same
// one. It holds facts, never a status, and is safe for concurrent use.
type cache struct {
	mu    sync.Mutex
	files agentfile.Cache[*rolloutFile]
	saved *kit.Saved[savedRollout]
}

// rolloutFile holds what was read of one rollout.
type rolloutFile struct {
	agentfile.File
	facts facts
	usage *usageScan // nil: no query has asked for it
	rest  []record   // on a last line without a line feed, as other tools restore rollouts

	loaded bool // the facts that an earlier process saved were searched for this rollout
}

// factsFormat is the version of the facts of rollouts. It must be raised when the same fields get
// another meaning.
const factsFormat = 8

// savedRollout is what is kept of a rollout between processes.
type savedRollout struct {
	state agentfile.State
	facts facts
	usage *usageScan
}

// usualRead is about the number of bytes that are read of a large rollout.
const usualRead = 256 << 10

func newRolloutFile(path string) *rolloutFile { return &rolloutFile{File: agentfile.NewFile(path)} }

// read returns the present facts of the rollout that info describes, and its present
// size and time. It reads only what was added since the last time. With q.Once nothing is
// kept. The caller must not change what the facts point to.
func (c *cache) read(ctx context.Context, path string, info fs.FileInfo, q *adapters.Query) (rolloutFacts, fs.FileInfo, error) {
	r := newRolloutFile(path)
	if !q.Once {
		c.mu.Lock()
		r = c.files.Get(path, newRolloutFile)
		c.mu.Unlock()
	}
	if err := r.Acquire(ctx); err != nil {
		return rolloutFacts{}, info, err
	}
	defer r.Release()
	c.load(r, path, q)
	if r.IsCurrent(info) && (!wantsUsage(q, &r.facts) || r.hasUsage()) {
		return r.now(q), info, nil
	}
	next := r.Next
	scan := r.usage
	scanned := r.usage.upTo()
	for attempt := 0; ; attempt++ {
		found, now, err := r.update(ctx, q)
		if now != nil {
			info = now
		}
		if err == nil {
			read := info.Size()
			if !compressed(path) {
				read = r.readSince(next, scan, scanned)
			}
			c.store(r, path, read)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return found, info, err
		}
		r.Reset() // the file became shorter while it was read: it is being written again
		if attempt == 2 {
			return found, info, fmt.Errorf("it became shorter again and again while it was read: %w", err)
		}
	}
}

// load takes what an earlier process kept of a rollout, once, and its ledger if the query asks for it.
func (c *cache) load(r *rolloutFile, path string, q *adapters.Query) {
	if !r.loaded {
		r.loaded = true
		if known, ok := c.saved.Load(path); ok {
			r.State = known.state
			r.facts = known.facts
			r.usage = known.usage
		}
	}
	if wantsUsage(q, &r.facts) && r.usage != nil && !c.saved.Fetch(path, &r.usage.ledger) {
		r.usage = nil
	}
}

// store keeps what is known of a rollout, for which read bytes were read.
func (c *cache) store(r *rolloutFile, path string, read int64) {
	state := r.State
	if len(r.rest) > 0 {
		state = r.Complete()
	}
	c.saved.Store(path, &savedRollout{state, r.facts, r.usage}, r.usage.saved(), read)
}

// readSince returns about how many bytes were read after the facts had been read up to next and the usage, by scan,
// up to scanned.
func (r *rolloutFile) readSince(next int64, scan *usageScan, scanned int64) int64 {
	if r.usage != scan { // it began again
		scanned = 0
	}
	return min(max(r.Next-next, 0), usualRead) + max(r.usage.upTo()-scanned, 0)
}

// rolloutFacts holds the facts of a rollout and, if it was asked for, the ledger of its answers.
type rolloutFacts struct {
	facts
	ledger *kit.Ledger
	unsure bool             // counts in it contradict each other
	tokens *adapters.Tokens // where the facts lack them
}

// now returns those of the facts read so far that the query asks for.
func (r *rolloutFile) now(q *adapters.Query) rolloutFacts {
	out, scan := rolloutFacts{facts: r.facts}, r.usage
	if len(r.rest) > 0 && scan != nil {
		copied := *scan
		copied.ledger, scan = scan.ledger.Clone(), &copied
	}
	for i := range r.rest {
		if out.apply(r.rest[i]); scan != nil {
			scan.record(&r.rest[i])
		}
	}
	if out.firstPrompt == "" && len(r.rest) > 0 && r.Next < headLimit {
		out.firstPrompt = out.lastPrompt
	}
	if !wantsUsage(q, &out.facts) || !r.hasUsage() || out.totals == nil {
		return out
	}
	if out.totals.beganAgain() {
		own := scan.own
		out.tokens = &own
	}
	if q.Usage {
		ledger := scan.ledger.Ledger
		out.ledger, out.unsure = &ledger, scan.unsure
	}
	return out
}

// update brings the facts up to date. It returns the facts and describes the file that was
// opened. With an error it returns the facts that were read before the error.
func (r *rolloutFile) update(ctx context.Context, q *adapters.Query) (rolloutFacts, fs.FileInfo, error) {
	file, info, err := agentfile.OpenRegular(r.Path)
	if err != nil {
		return rolloutFacts{}, nil, err
	}
	defer file.Close()
	r.Begin(file, info)
	var p progress
	switch {
	case r.IsOpenedCurrent() && (!wantsUsage(q, &r.facts) || r.hasUsage()):
		return r.now(q), info, nil
	case compressed(r.Path):
		p, r.usage, err = readCompressed(ctx, file)
	case r.facts.known && r.HasGrown(file):
		p, err = readRollout(ctx, file, info.Size(), &progress{r.facts, r.Next})
	case r.facts.known && r.IsOpenedCurrent():
		p = progress{r.facts, r.Next}
	default:
		r.usage = nil
		p, err = readRollout(ctx, file, info.Size(), nil)
	}
	if err == nil && !compressed(r.Path) {
		err = r.readUsage(ctx, file, &p, q)
	}
	if err != nil {
		return rolloutFacts{facts: p.facts}, info, err
	}
	r.facts, r.Next = p.facts, p.next
	limit := int64(headLine)
	if compressed(r.Path) {
		limit = 0
	}
	rest, err := r.Finish(file, info, limit)
	if err != nil {
		return rolloutFacts{facts: p.facts}, info, err
	}
	r.rest = nil
	if r.facts.known && agentfile.HasRecord(rest) {
		r.rest = slices.Collect(records(rest))
	}
	return r.now(q), info, nil
}

// hasUsage reports whether the scan covers everything that was read of the rollout.
func (r *rolloutFile) hasUsage() bool { return r.usage != nil && r.usage.next >= r.Next }

// wantsUsage reports whether the whole rollout is needed: for the times of use, or for totals that its end lacks.
func wantsUsage(q *adapters.Query, f *facts) bool {
	return q.Usage || q.Totals && f.totals != nil && f.totals.beganAgain()
}

// readUsage brings the scan up to date, if it is asked for. A scan that is not finished in time continues at the next
// question; until then the usage is not known.
func (r *rolloutFile) readUsage(ctx context.Context, file io.ReaderAt, p *progress, q *adapters.Query) error {
	if !wantsUsage(q, &p.facts) {
		return nil
	}
	if r.usage == nil {
		r.usage = newUsageScan(&p.facts.head)
	}
	limited, cancel := kit.WithMargin(ctx)
	defer cancel()
	err := r.usage.read(limited, file, p.next)
	if limited.Err() != nil && errors.Is(err, limited.Err()) && ctx.Err() == nil {
		return nil
	}
	return err
}

// endQuestion drops the entries that the last calls did not need, if there are too
// many, and saves what was read for other processes.
func (c *cache) endQuestion(q *adapters.Query) {
	q.AfterAnswer(func() { c.saved.Flush(q.Once) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Trim()
}

// forget drops everything.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = agentfile.Cache[*rolloutFile]{}
}
