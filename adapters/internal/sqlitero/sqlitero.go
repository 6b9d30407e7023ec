// Package sqlitero reads another program's SQLite database without any effect on it or
// on its folder: no file is made, changed, locked or left behind, no checkpoint is
// caused, and a writer is never held up. Rows that are still in the write-ahead log are
// read.
//
// SQLite's own read-only modes can't do this: mode=ro makes -wal and -shm files (and,
// being the last to close, leaves them), writes read marks into a live -shm, and its
// lock keeps a writer's last connection from removing the log; immutable=1 does not see
// the log. So the database is opened through a virtual file system that has no way to
// write or lock, with the index of the log kept on the heap (locking_mode=EXCLUSIVE). A
// checkpoint or a restarted log during the read, which locks would have prevented, is
// detected afterwards, and the read is repeated: see Stamp.
package sqlitero

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

var (
	// ErrNotDatabase reports that the file is not an SQLite database, or a damaged one.
	ErrNotDatabase = errors.New("not an SQLite database")
	// ErrBusy reports that the database was written to during each of several reads, or
	// that a writer that was killed left an unfinished change in it.
	ErrBusy = errors.New("being written to")
)

// attempts is how many times a read is tried. The pauses between the attempts add up to an
// eighth of a second.
const attempts = 7

// Read calls fn with a consistent view of the database at path, which may be a symbolic
// link. fn is called again from the start, after a pause, when a writer changed the
// files; it must begin with empty results each time, and what it collected is right
// only if Read returns nil.
//
// The returned Stamp is that of the state that was read: as long as Look returns the
// same stamp, another read returns the same data. Errors: that of fn or of ctx, an
// fs.PathError, ErrNotDatabase or ErrBusy.
func Read(ctx context.Context, path string, fn func(ctx context.Context, db *DB) error) (Stamp, error) {
	var spoilt error
	for i := range attempts {
		if i > 0 {
			if err := bounded.Wait(ctx, time.Millisecond<<i); err != nil {
				return Stamp{}, err
			}
		}
		stamp, err := readOnce(ctx, path, fn)
		if ctx.Err() != nil {
			return Stamp{}, ctx.Err()
		}
		if !errors.Is(err, errSpoilt) {
			return stamp, err
		}
		spoilt = err
	}
	return Stamp{}, fmt.Errorf("%w: %w", ErrBusy, spoilt)
}

// DB is one consistent view. It is valid during the call of Read's fn only, and
// for one goroutine.
type DB struct {
	tx *sql.Tx
}

// Query runs one SELECT. Results are read to their end, and closed, before the
// next one.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return db.tx.QueryContext(ctx, query, args...)
}

// Cache keeps what was read of databases. The zero value is empty. It is safe for concurrent use; the values must not be changed.
type Cache[T any] struct{ kit.Memo[string, cached[T]] }

type cached[T any] struct {
	stamp Stamp
	value T
}

// Read returns what read makes of the database at path. It is called again only if the database has changed.
func (c *Cache[T]) Read(ctx context.Context, path string, read func(context.Context, *DB) (T, error)) (T, error) {
	var now cached[T]
	stamp, err := Look(path)
	if known, ok := c.Get(path); err != nil || ok && known.stamp == stamp {
		return known.value, err
	}
	now.stamp, err = Read(ctx, path, func(ctx context.Context, db *DB) (err error) {
		now.value, err = read(ctx, db)
		return err
	})
	if err == nil {
		c.Put(path, now)
	}
	return now.value, err
}

// Columns returns the names of the table's columns; none if there is no such table.
// Programs change their tables between versions: a caller selects only columns that
// exist.
func (db *DB) Columns(ctx context.Context, table string) (map[string]bool, error) {
	columns := map[string]bool{}
	err := db.Each(ctx, "SELECT name FROM pragma_table_info(?)", []any{table}, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		columns[name] = true
		return err
	})
	return columns, err
}

// Each runs one SELECT and calls row for each of its rows, with a function that reads the
// columns. It ends with the first error of row.
func (db *DB) Each(ctx context.Context, query string, args []any, row func(scan func(columns ...any) error) error) error {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

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
		p := adapters.Unreadable(path, err) // it names the file beside the database, if that is the cause
		p.Kind, p.Fix = adapters.ErrFormat, broken
		return p
	case errors.Is(err, ErrTables):
		return adapters.Unrecognised(path, "%w", err)
	}
	return adapters.Unreadable(path, err)
}
