package sqlitero

import (
	"context"
	"errors"
	"io/fs"

	"rollcall/adapters"
)

// ErrTables reports that a database lacks the tables of its agent.
var ErrTables = errors.New("no tables in the known form")

// Problem returns what kept the database at path from being read, and nil if it was
// removed meanwhile. busy and broken say what the user can do about a database that
// is being written to, and about one that is damaged.
func Problem(ctx context.Context, path string, err error, busy, broken string) error {
	switch {
	case ctx.Err() != nil:
		return &adapters.Problem{Kind: adapters.ErrTimeout, Path: path, Err: ctx.Err()}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrBusy):
		return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: path, Err: err, Fix: busy}
	case errors.Is(err, ErrNotDatabase):
		return &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err, Fix: broken}
	case errors.Is(err, ErrTables):
		return adapters.Unrecognised(path, "%w", err)
	}
	return adapters.Unreadable(path, err)
}
