package cline

import (
	"context"
	"errors"
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

// read returns what parse makes of the file at path, with the state of the file. It parses a file again only if the file has changed.
func read[T any](ctx context.Context, memo *kit.Memo[string, kept[T]], path string, limit int64, parse func([]byte) (T, error)) (kept[T], error) {
	info, err := os.Stat(path)
	if err != nil {
		return kept[T]{}, err
	}
	if known, ok := memo.Get(path); ok && known.stamp.Unchanged(agentfile.StampOf(path, info)) {
		return known, nil
	}
	found, err := readNow(ctx, path, limit, parse)
	if err == nil {
		memo.Put(path, found)
	}
	return found, err
}

// readNow reads a file. Cline writes its files in place: a new one that can't be parsed is read again for a moment.
func readNow[T any](ctx context.Context, path string, limit int64, parse func([]byte) (T, error)) (found kept[T], err error) {
	for attempt := 1; ; attempt++ {
		data, info, stamp, err := agentfile.ReadStamped(path, limit)
		if err == nil {
			found.stamp = stamp
			if found.value, err = parse(data); err == nil {
				return found, nil
			}
		} else if !errors.Is(err, agentfile.ErrTooLarge) {
			return kept[T]{}, err
		}
		if !errors.Is(err, agentfile.ErrSyntax) || attempt == rewrites || time.Since(info.ModTime()) > written {
			return kept[T]{}, adapters.Unrecognised(path, "%w", err)
		}
		if err := kit.Wait(ctx, rewrite); err != nil {
			return kept[T]{}, err
		}
	}
}
