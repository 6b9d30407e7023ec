package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/incremental"
)

// cache keeps what was read of each rollout, for as long as the file is the same
// one. It holds facts, never a status, and is safe for concurrent use.
type cache struct {
	mu    sync.Mutex
	files incremental.Cache[*rolloutFile]
}

// rolloutFile holds what was read of one rollout.
type rolloutFile struct {
	incremental.File
	facts facts
}

func newRolloutFile(path string) *rolloutFile {
	return &rolloutFile{File: incremental.NewFile(path)}
}

// read returns the present facts of the rollout that info describes, and its present
// size and time. It reads only what was added since the last time. Where once is true,
// nothing is kept.
func (c *cache) read(ctx context.Context, path string, info fs.FileInfo, once bool) (facts, fs.FileInfo, error) {
	r := newRolloutFile(path)
	if !once {
		c.mu.Lock()
		r = c.files.Get(path, newRolloutFile)
		c.mu.Unlock()
	}
	if err := r.Acquire(ctx); err != nil {
		return facts{}, info, err
	}
	defer r.Release()
	if r.IsCurrent(info) {
		return r.facts, info, nil
	}
	for attempt := 0; ; attempt++ {
		found, now, err := r.update(ctx)
		if now != nil {
			info = now
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

// update brings the facts up to date. It returns the facts, with an error as far as
// they were read, and describes the file that was opened.
func (r *rolloutFile) update(ctx context.Context) (facts, fs.FileInfo, error) {
	file, info, err := agentfile.OpenRegular(r.Path)
	if err != nil {
		return facts{}, nil, err
	}
	defer file.Close()
	var p progress
	switch {
	case r.IsCurrent(info):
		return r.facts, info, nil
	case compressed(r.Path):
		p, err = readCompressed(ctx, file)
	case r.facts.known && r.HasGrown(file, info):
		p, err = readRollout(ctx, file, info.Size(), &progress{r.facts, r.Next})
	default:
		p, err = readRollout(ctx, file, info.Size(), nil)
	}
	if err != nil {
		return p.facts, info, err
	}
	r.facts, r.Next = p.facts, p.next
	if _, err := r.Finish(file, info, 0); err != nil {
		return p.facts, info, err
	}
	return p.facts, info, nil
}

// endQuestion drops the entries that the last calls did not need, if there are too
// many.
func (c *cache) endQuestion() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Trim()
}

// forget drops everything.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = incremental.Cache[*rolloutFile]{}
}
