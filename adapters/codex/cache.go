package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"rollcall/proc"
)

// cacheSize bounds how many rollouts' facts are kept, each of a few kilobytes at
// most.
const cacheSize = 20_000

// cache keeps what was read of each rollout, for as long as the file is the same
// one: it holds facts, never a status. It is safe for concurrent use.
type cache struct {
	mu      sync.Mutex
	entries map[string]cached
}

type cached struct {
	id    proc.FileID
	size  int64
	mtime time.Time
	progress
}

// facts returns what the rollout says now, reading only what was added.
func (c *cache) facts(ctx context.Context, path string) (facts, fs.FileInfo, error) {
	for attempt := 0; ; attempt++ {
		f, fi, err := c.read(ctx, path)
		// A file that shrinks in the midst of the read is being written anew.
		if errors.Is(err, io.ErrUnexpectedEOF) && attempt < 2 {
			c.forget(path)
			continue
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it is being cut short again and again: %w", err)
		}
		return f, fi, err
	}
}

func (c *cache) read(ctx context.Context, path string) (facts, fs.FileInfo, error) {
	file, fi, err := openRollout(path)
	if err != nil {
		return facts{}, nil, err
	}
	defer file.Close()
	now := cached{id: fileID(fi), size: fi.Size(), mtime: fi.ModTime()}
	was, there := c.get(path)
	if there && was.id == now.id && was.size == now.size && was.mtime.Equal(now.mtime) {
		return was.facts, fi, nil
	}
	if compressed(path) {
		now.progress, err = readCompressed(ctx, file)
	} else {
		var before *progress
		if there && was.id == now.id && now.size > was.size {
			before = &was.progress
		}
		now.progress, err = readRollout(ctx, file, now.size, before)
	}
	if err != nil {
		return now.facts, fi, err
	}
	c.put(path, now)
	return now.facts, fi, nil
}

// unchanged returns the facts of a file that need not even be opened.
func (c *cache) unchanged(path string, fi fs.FileInfo) (facts, bool) {
	was, there := c.get(path)
	if !there || was.id != fileID(fi) || was.size != fi.Size() || !was.mtime.Equal(fi.ModTime()) {
		return facts{}, false
	}
	return was.facts, true
}

func (c *cache) get(path string) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[path]
	return e, ok
}

func (c *cache) put(path string, e cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]cached{}
	}
	if _, there := c.entries[path]; !there && len(c.entries) >= cacheSize {
		drop := cacheSize / 10
		for old := range c.entries { // any: what is still wanted is read again
			delete(c.entries, old)
			if drop--; drop == 0 {
				break
			}
		}
	}
	c.entries[path] = e
}

func (c *cache) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, path)
}
