package corpus

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// database is an SQLite database that is written as the agents write theirs: in
// WAL mode, and left behind without a checkpoint at the end. It keeps its first
// error.
type database struct {
	path  string // where it is left
	db    *sql.DB
	conn  *sql.Conn
	inTx  bool
	stmts []*sql.Stmt
	rows  int // in the open transaction
	err   error
}

const rowsAtOnce = 2000

func createDatabase(path, schema string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// Nobody reads it before it is complete, so nothing needs to be synced.
	db, err := sql.Open("sqlite", "file:"+path+".part?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=cache_size(-65536)")
	if err != nil {
		return nil, err
	}
	d := &database{path: path, db: db}
	d.conn, err = db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d.exec(schema)
	return d, d.err
}

func (d *database) exec(query string) {
	if d.err == nil {
		_, d.err = d.conn.ExecContext(context.Background(), query)
	}
}

// prepare returns a function that runs the statement, in transactions of many.
func (d *database) prepare(query string) func(args ...any) {
	var stmt *sql.Stmt
	if d.err == nil {
		stmt, d.err = d.conn.PrepareContext(context.Background(), query)
		d.stmts = append(d.stmts, stmt)
	}
	return func(args ...any) {
		if d.err != nil {
			return
		}
		if !d.inTx {
			d.exec("BEGIN")
			d.inTx = true
		}
		if d.err == nil {
			_, d.err = stmt.Exec(args...)
		}
		if d.rows++; d.rows >= rowsAtOnce {
			d.commit()
		}
	}
}

func (d *database) commit() {
	if d.inTx {
		d.exec("COMMIT")
	}
	d.inTx, d.rows = false, 0
}

// checkpoint moves everything into the database file; what comes later stays in
// the log.
func (d *database) checkpoint() {
	d.commit()
	d.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	d.exec("PRAGMA wal_autocheckpoint=0")
}

// leave leaves the database, its log and the log's index at path, as a process
// does that ends without closing them.
func (d *database) leave(w *writer) error {
	d.commit()
	for _, end := range []string{"", "-wal", "-shm"} {
		if d.err == nil {
			var n int64
			n, d.err = copyFile(d.path+end, d.path+".part"+end)
			w.wrote(d.path, w.Now.Add(-24*time.Hour), n)
		}
	}
	for _, s := range d.stmts {
		d.err = errors.Join(d.err, s.Close())
	}
	return errors.Join(d.err, d.conn.Close(), d.db.Close(), os.Remove(d.path+".part"))
}

func copyFile(to, from string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return n, errors.Join(err, out.Close())
}
