//go:build linux

package sqlitero

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(p, b, 0o600))
		return p
	}
	header := append([]byte("SQLite format 3\x00\x10\x00\x02\x02\x00\x40\x20\x20"), make([]byte, 5000)...)
	paths := map[string]string{
		"text":          write("text", []byte(strings.Repeat("no database\n", 1000))),
		"empty":         write("empty", nil),
		"header alone":  write("header", header[:24]),
		"zeros inside":  write("zeros", header),
		"random":        write("random", bytes.Repeat([]byte{0xa5, 0x17, 0x42}, 5000)),
		"folder":        dir,
		"folder as log": write("folder-log", header),
	}
	must.Do(t, os.Mkdir(paths["folder as log"]+"-wal", 0o700))
	pipe := filepath.Join(dir, "pipe")
	mkfifo(t, pipe)
	paths["named pipe"] = pipe
	for name, path := range paths {
		done := make(chan error, 1)
		go func() { _, _, err := count(t.Context(), path); done <- err }()
		select {
		case err := <-done:
			if !errors.Is(err, ErrNotDatabase) {
				t.Errorf("%s: %v, want ErrNotDatabase", name, err)
			}
		case <-time.After(eventually.Limit):
			t.Errorf("%s: hangs", name)
		}
	}
	if _, _, err := count(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	loop := filepath.Join(dir, "loop")
	must.Do(t, os.Symlink(loop, loop))
	if _, _, err := count(t.Context(), loop); err == nil {
		t.Error("a symlink loop was read")
	}
}

// Damage in the midst of a database or its log is an error or right rows, never
// wrong ones: a log with a broken frame ends before it, as SQLite defines.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, schema, one(fill), `PRAGMA wal_checkpoint(TRUNCATE)`, `UPDATE account SET money = 101`)
	w.kill()
	log, err := os.ReadFile(path + "-wal")
	must.Do(t, err)
	log[len(log)/2] ^= 0xff
	must.Do(t, os.WriteFile(path+"-wal", log, 0o600))
	if n, sum, err := count(t.Context(), path); err != nil || n != 200 || sum != 20000 {
		t.Errorf("log with a broken frame: %d accounts, sum %d, %v; want what was there before it", n, sum, err)
	}
	data, err := os.ReadFile(path)
	must.Do(t, err)
	must.Do(t, os.Truncate(path, int64(len(data)/2)))
	must.Do(t, os.Remove(path+"-wal"))
	if _, _, err := count(t.Context(), path); !errors.Is(err, ErrNotDatabase) {
		t.Errorf("database cut in half: %v, want ErrNotDatabase", err)
	}
}

// Rights: a folder that can't be written into is read all the same; a file that
// can't be read is told.
func TestAsUserWithoutRights(t *testing.T) {
	dir, err := os.MkdirTemp("", "sqlitero")
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		must.Do(t, os.Chmod(path+suffix, 0o644))
	}
	before := tree(t, dir)
	if got := asNobody(t, path); got != "200 <nil>" {
		t.Errorf("folder without write permission: %s", got)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the folder changed:\n%s", diff)
	}
	must.Do(t, os.Chmod(path, 0o600))
	if got := asNobody(t, path); !strings.Contains(got, "permission denied") {
		t.Errorf("unreadable file: %s", got)
	}
}

// A database can state a text of any size in a few bytes. It is not made, even where only its beginning is asked for.
func TestHugeValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	startWriter(t, path).do(one(schema), "CREATE VIEW small AS SELECT printf('%.*c', 50000000, 'x') AS text", "CREATE VIEW huge AS SELECT printf('%.*c', 300000000, 'x') AS text")
	for table, fits := range map[string]bool{"small": true, "huge": false} {
		_, err := Read(t.Context(), path, func(ctx context.Context, db *DB) error {
			return db.Each(ctx, "SELECT substr(text, 1, 10) FROM "+table, nil, func(scan func(...any) error) error { return scan(new(string)) })
		})
		if fits != (err == nil) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	w := startWriter(t, path)
	w.do(wal, schema, one(fill), `CREATE TABLE big (x)`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := Read(ctx, path, func(ctx context.Context, db *DB) error {
		rows, err := db.Query(ctx, `SELECT count(*) FROM account a, account b, account c, account d`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the deadline", err)
	}
}

// Many databases and logs with random damage: an error or rows, in time, and the
// folder as it was. (A fuzz target over all of SQLite gets through one input a
// second.)
func TestRandomDamage(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.sqlite")
	w := startWriter(t, seed)
	w.do(wal, schema, one(fill), `PRAGMA wal_checkpoint(TRUNCATE)`, `UPDATE account SET money = 101`)
	data, err := os.ReadFile(seed)
	must.Do(t, err)
	log, err := os.ReadFile(seed + "-wal")
	must.Do(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	damage := func(b []byte) []byte {
		b = bytes.Clone(b)
		for range random.IntN(8) {
			b[random.IntN(len(b))] = byte(random.Uint32())
			b[random.IntN(min(len(b), 120))] = byte(random.Uint32()) // headers
		}
		return b[:len(b)-random.IntN(2)*random.IntN(len(b))]
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sqlite")
	right, failed := 0, 0
	for range 500 {
		for name, b := range map[string][]byte{path: damage(data), path + "-wal": damage(log)} {
			must.Do(t, os.WriteFile(name, b, 0o600))
		}
		before := tree(t, dir)
		ctx, cancel := context.WithTimeout(t.Context(), eventually.Limit)
		_, _, err := count(ctx, path)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("hangs")
		}
		cancel()
		if err == nil {
			right++
		} else {
			failed++
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Fatalf("the folder changed:\n%s", diff)
		}
	}
	t.Logf("%d read, %d refused", right, failed)
	if right == 0 || failed == 0 {
		t.Error("the damage shows nothing")
	}
}
