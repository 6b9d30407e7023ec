package cline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// kept is what was parsed of a file, with the state of the file.
type kept[T any] struct {
	stamp agentfile.Stamp
	value T
}

const (
	rewrites = 60                   // looks at a file that is being written
	rewrite  = 3 * time.Millisecond // between two of them
	written  = 2 * time.Second      // an older file isn't being written
)

// read returns what parse makes of the file at path, with the state of the file. It parses a file again only if the file has changed. Cline
// writes its files in place: a new one that can't be parsed is read again for a moment.
func read[T any](ctx context.Context, memo *kit.Memo[string, kept[T]], path string, limit int64, parse func([]byte) (T, error)) (kept[T], error) {
	var none kept[T]
	for attempt := 1; ; attempt++ {
		info, err := os.Stat(path)
		if err != nil {
			return none, err
		}
		if known, ok := memo.Get(path); ok && known.stamp.Unchanged(agentfile.StampOf(path, info)) {
			return known, nil
		}
		data, info, stamp, err := agentfile.ReadStamped(path, limit)
		if errors.Is(err, agentfile.ErrTooLarge) {
			return none, adapters.Unrecognised(path, "%w", err)
		}
		if err != nil {
			return none, err
		}
		value, err := parse(data)
		if err == nil {
			memo.Put(path, kept[T]{stamp, value})
			return kept[T]{stamp, value}, nil
		}
		if !errors.Is(err, agentfile.ErrSyntax) || attempt == rewrites || time.Since(info.ModTime()) > written {
			return none, adapters.Unrecognised(path, "%w", err)
		}
		if err := kit.Wait(ctx, rewrite); err != nil {
			return none, err
		}
	}
}

// isMissing reports whether a file was not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
