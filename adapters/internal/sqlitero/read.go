package sqlitero

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errSpoilt is returned when a writer may have changed the files during a read.
var errSpoilt = errors.New("changed while it was read")

func readOnce(ctx context.Context, path string, fn func(context.Context, *DB) error) (Stamp, error) {
	s, err := open(ctx, path)
	if err != nil {
		return Stamp{}, err
	}
	defer s.close()
	if s.before.journal {
		return Stamp{}, fmt.Errorf("%w: %s-journal holds an unfinished change", errSpoilt, path)
	}
	err = s.checkWAL()
	if err == nil {
		err = s.view(ctx, fn)
	}
	after, lookErr := Look(path)
	if lookErr != nil {
		return Stamp{}, lookErr
	}
	if !s.before.undisturbed(after) {
		return Stamp{}, errSpoilt
	}
	return s.before, err
}

// maxValue is the largest text or row in bytes. A view can make one of any size of nothing, which SQLite would hold in memory twice, even
// where a query asks for its beginning.
const maxValue = 256 << 20

// view runs fn in one read transaction over the snapshot.
func (s *snapshot) view(ctx context.Context, fn func(context.Context, *DB) error) error {
	if s.before.db.size == 0 {
		return fmt.Errorf("%w: empty file", ErrNotDatabase)
	}
	vfsName, err := register()
	if err != nil {
		return err
	}
	name := files.add(s)
	defer files.byName.Delete(name)
	// Exclusive locking keeps the log's index on the heap, and must be set before the
	// first access. The statement contains no untrusted text.
	db, err := sql.Open("sqlite", "file:"+name+"?vfs="+vfsName+
		"&_pragma=locking_mode(exclusive)&_pragma=temp_store(memory)"+
		"&_pragma=query_only(1)&_pragma=trusted_schema(0)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, maxValue); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return classify(err)
	}
	defer tx.Rollback()
	var tables int
	// The first SELECT fixes the view. It also fails for a file that is not a database.
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return classify(err)
	}
	return classify(fn(ctx, &DB{tx: tx}))
}

// classify wraps SQLite's errors for files that are not databases, or are damaged, with
// ErrNotDatabase.
func classify(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN:
		text, _, _ := strings.Cut(e.Error(), "\n")
		return fmt.Errorf("%w: %s", ErrNotDatabase, text)
	}
	return err
}
