//go:build linux

package sqlitero

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
)

const (
	schema = `CREATE TABLE account (id INTEGER PRIMARY KEY, money INTEGER, filler TEXT)`
	fill   = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 199)
		INSERT INTO account SELECT i, 100, hex(randomblob(400)) FROM n`
	wal = `PRAGMA journal_mode = WAL`
)

// one makes a multi-line statement one line, as the writer takes it.
func one(s string) string { return strings.Join(strings.Fields(s), " ") }

// tree is what a folder holds: names, sizes and contents.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		m[e.Name()] = fmt.Sprintf("%d %x", len(b), sha256.Sum256(b))
		return err
	})
	must.Do(t, err)
	return m
}

// count reads the number of accounts and the sum of their money.
func count(ctx context.Context, path string) (n, sum int, err error) {
	_, err = Read(ctx, path, func(ctx context.Context, db *DB) error {
		n, sum = 0, 0
		rows, err := db.Query(ctx, `SELECT money FROM account ORDER BY filler`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var money int
			if err := rows.Scan(&money); err != nil {
				return err
			}
			n++
			sum += money
		}
		return rows.Err()
	})
	return n, sum, err
}

// Every state in which a database can be found, made by a real second process.
// Each gives all rows, and leaves the folder as it was.
func TestReadLeavesNothingBehind(t *testing.T) {
	states := map[string]func(t *testing.T, path string, w *process){
		"closed, no log": func(t *testing.T, path string, w *process) {
			w.do(wal, schema, one(fill), "close")
		},
		"rollback journal mode": func(t *testing.T, path string, w *process) {
			w.do(schema, one(fill), "close")
		},
		"writer lives, all in the log": func(t *testing.T, path string, w *process) {
			w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
		},
		"writer lives, partly copied back": func(t *testing.T, path string, w *process) {
			w.do(wal, schema, one(fill), `PRAGMA wal_checkpoint(PASSIVE)`, `UPDATE account SET money = money + 1 WHERE id < 100`,
				`UPDATE account SET money = money - 1 WHERE id < 100`)
		},
		"writer lives, log emptied": func(t *testing.T, path string, w *process) {
			w.do(wal, schema, one(fill), `PRAGMA wal_checkpoint(TRUNCATE)`)
		},
		"writer lives, in a transaction": func(t *testing.T, path string, w *process) {
			w.do(wal, schema, one(fill), `BEGIN IMMEDIATE`, `UPDATE account SET money = 0`)
		},
		"writer killed, stale -shm": func(t *testing.T, path string, w *process) {
			w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
			w.kill()
		},
		"log without -shm": func(t *testing.T, path string, w *process) {
			w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
			w.kill()
			must.Do(t, os.Remove(path+"-shm"))
		},
		"persistent journal": func(t *testing.T, path string, w *process) {
			w.do(`PRAGMA journal_mode = PERSIST`, schema, one(fill), "close")
		},
	}
	for name, make := range states {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a b?c%20&d.sqlite")
			w := startWriter(t, filepath.Join(filepath.Dir(path), "x.sqlite"))
			// The writer names its file in a URI; the one that is read has a name
			// that would need escaping in one.
			x := filepath.Join(filepath.Dir(path), "x.sqlite")
			make(t, x, w)
			must.Do(t, os.Symlink(x, path))
			before := tree(t, filepath.Dir(path))
			for range 3 {
				n, sum, err := count(t.Context(), path)
				if err != nil || n != 200 || sum != 20000 {
					t.Fatalf("%d accounts, sum %d, %v; want 200, 20000", n, sum, err)
				}
			}
			if diff := cmp.Diff(before, tree(t, filepath.Dir(path))); diff != "" {
				t.Errorf("the folder changed:\n%s", diff)
			}
		})
	}
}

// A writer that commits, checkpoints in every way and reopens the database all
// the time: each read sees one state, and the writer is never held up.
func TestReadBesideBusyWriter(t *testing.T) {
	for _, mode := range []string{wal, `PRAGMA journal_mode = DELETE`} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.sqlite")
			w := startWriter(t, path)
			w.do(mode, `PRAGMA synchronous = OFF`, schema, one(fill))
			const seconds = 3
			good, busy := 0, 0
			for range 10 { // on a busy machine a first round may have no read between two transactions
				w.send(fmt.Sprintf("transfer %d", seconds))
				for end := time.Now().Add(seconds * time.Second); time.Now().Before(end); {
					n, sum, err := count(t.Context(), path)
					switch {
					case errors.Is(err, ErrBusy):
						busy++
					case err != nil || n != 200 || sum != 20000:
						t.Fatalf("%d accounts, sum %d, %v; want 200, 20000", n, sum, err)
					default:
						good++
					}
				}
				t.Logf("%d reads right, %d gave up; the writer's transactions: %s", good, busy, w.answer())
				if good > 0 {
					break
				}
			}
			if good == 0 { // the rollback journal leaves few gaps, and the race detector makes reads slow
				t.Errorf("only %d reads came through", good)
			}
			w.do("close")
			if names := len(tree(t, filepath.Dir(path))); names != 1 {
				t.Errorf("%d files after the writer closed, want the database alone: %v", names, tree(t, filepath.Dir(path)))
			}
		})
	}
}

// A reader that is in the midst of its view while the last writer closes keeps
// nobody from tidying up, and reads again.
func TestWriterClosesDuringRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
	calls, n := 0, 0
	_, err := Read(t.Context(), path, func(ctx context.Context, db *DB) error {
		if calls++; calls == 1 {
			w.do(`UPDATE account SET money = 7`, "close")
		}
		rows, err := db.Query(ctx, `SELECT count(*) FROM account WHERE money = 7`)
		if err != nil {
			return err
		}
		defer rows.Close()
		rows.Next()
		return rows.Scan(&n)
	})
	if err != nil || calls != 2 || n != 200 {
		t.Errorf("%d rows in %d calls, %v; want 200 in 2", n, calls, err)
	}
	if got := tree(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// A database that was closed when the read began, and is opened and written by
// somebody in its midst.
func TestWriterAppearsDuringRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	first := startWriter(t, path)
	first.do(wal, schema, one(fill), "close")
	second := startWriter(t, path)
	calls, sum := 0, 0
	_, err := Read(t.Context(), path, func(ctx context.Context, db *DB) error {
		if calls++; calls == 1 {
			second.do(`UPDATE account SET money = 1`, `PRAGMA wal_checkpoint(TRUNCATE)`)
		}
		rows, err := db.Query(ctx, `SELECT sum(money) FROM account`)
		if err != nil {
			return err
		}
		defer rows.Close()
		rows.Next()
		return rows.Scan(&sum)
	})
	if err != nil || calls != 2 || sum != 200 {
		t.Errorf("sum %d in %d calls, %v; want 200 in 2", sum, calls, err)
	}
}

// Appending to the log while it is read disturbs nothing: no second call.
func TestAppendDuringReadIsNoDisturbance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
	calls, sum := 0, 0
	stamp, err := Read(t.Context(), path, func(ctx context.Context, db *DB) error {
		calls++
		w.do(`UPDATE account SET money = 1`)
		rows, err := db.Query(ctx, `SELECT sum(money) FROM account`)
		if err != nil {
			return err
		}
		defer rows.Close()
		rows.Next()
		return rows.Scan(&sum)
	})
	if err != nil || calls != 1 || sum != 20000 {
		t.Errorf("sum %d in %d calls, %v; want the state at the beginning in 1", sum, calls, err)
	}
	if now, err := Look(path); err != nil || now == stamp {
		t.Errorf("the stamp did not change with the write (%v)", err)
	}
}

func TestHotJournalIsBusyNotWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(`PRAGMA journal_mode = DELETE`, schema, one(fill), `PRAGMA cache_spill = 1`, `PRAGMA cache_size = 2`,
		`BEGIN IMMEDIATE`, `UPDATE account SET money = 0, filler = hex(randomblob(400))`)
	w.kill()
	before := tree(t, filepath.Dir(path))
	if len(before) != 2 {
		t.Fatalf("no journal was left: %v", before)
	}
	_, _, err := count(t.Context(), path)
	if !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if diff := cmp.Diff(before, tree(t, filepath.Dir(path))); diff != "" {
		t.Errorf("the folder changed:\n%s", diff)
	}
}

func TestStampIsStableAndTells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, schema, one(fill))
	look := func() Stamp {
		t.Helper()
		s, err := Look(path)
		must.Do(t, err)
		return s
	}
	a := look()
	read, err := Read(t.Context(), path, func(context.Context, *DB) error { return nil })
	if err != nil || read != a || look() != a {
		t.Errorf("the stamp differs though nothing was written (%v)", err)
	}
	for _, statement := range []string{
		`UPDATE account SET money = 3 WHERE id = 1`, `UPDATE account SET money = 4 WHERE id = 1`,
		`PRAGMA wal_checkpoint(RESTART)`, `UPDATE account SET money = 5 WHERE id = 1`, "close",
	} {
		w.do(statement)
		b := look()
		if a == b {
			t.Errorf("the stamp did not change with %s", statement)
		}
		a = b
	}
}

func TestColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, schema, one(fill))
	_, err := Read(t.Context(), path, func(ctx context.Context, db *DB) error {
		got, err := db.Columns(ctx, "account")
		if diff := cmp.Diff(map[string]bool{"id": true, "money": true, "filler": true}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if got, err := db.Columns(ctx, "nothing"); len(got) != 0 || err != nil {
			t.Error(got, err)
		}
		if rows, err := db.Query(ctx, `DELETE FROM account`); err == nil {
			for rows.Next() {
			}
			if rows.Err() == nil {
				t.Error("a write went through")
			}
			rows.Close()
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
