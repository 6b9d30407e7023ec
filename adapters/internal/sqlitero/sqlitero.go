// Package sqlitero reads another program's SQLite database without any effect on
// it or on its folder: no file is made, changed, locked or left behind, no
// checkpoint is caused, and a writer is never held up. Rows that are still in
// the write-ahead log are seen.
//
// SQLite's own read-only modes can't do this: mode=ro makes -wal and -shm files
// (and, being the last to close, leaves them), writes read marks into a live
// -shm, and its lock keeps a writer's last connection from tidying up; immutable=1
// does not see the log. So the database is opened through a virtual file system
// that has no way to write or lock, with the index of the log kept on the heap
// (locking_mode=EXCLUSIVE). What locks would have prevented, a checkpoint or a
// restarted log in the midst of the read, is detected afterwards, and the read
// is done again: see Stamp.
package sqlitero

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver
)

var (
	// ErrNotDatabase: the file is no SQLite database, or a damaged one.
	ErrNotDatabase = errors.New("not an SQLite database")
	// ErrBusy: the database was written to during each of several reads, or a
	// writer that was killed left it in the midst of a change.
	ErrBusy = errors.New("being written to")
)

// attempts is how many times a read is tried. The pauses between the attempts add up to an
// eighth of a second.
const attempts = 7

// Read calls fn with a consistent view of the database at path, which may be a
// symbolic link. fn is called again from the start, after a pause, when a writer
// spoilt the view; it must begin with empty results each time, and what it
// collected is right only if Read returns nil.
//
// The returned Stamp is that of the state that was read: as long as Look returns
// the same, reading again gives the same. Errors: that of fn or of ctx, an
// fs.PathError, ErrNotDatabase or ErrBusy.
func Read(ctx context.Context, path string, fn func(ctx context.Context, db *DB) error) (Stamp, error) {
	var spoilt error
	for i := range attempts {
		if i > 0 {
			if err := pause(ctx, time.Millisecond<<i); err != nil {
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

// Columns returns the names of the table's columns; none if there is no such
// table. Programs change their tables between versions: a caller asks for what
// is there.
func (db *DB) Columns(ctx context.Context, table string) (map[string]bool, error) {
	rows, err := db.tx.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns[name] = true
	}
	return columns, rows.Err()
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
