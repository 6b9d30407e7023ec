//go:build linux

package sqlitero

import (
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkRead reads 200 rows from a database whose log holds about 100 pages,
// beside a live writer; BenchmarkLook is what a reader pays while nothing changed.
func BenchmarkRead(b *testing.B) {
	path := benchmarkDatabase(b)
	for b.Loop() {
		if n, _, err := count(context.Background(), path); err != nil || n != 200 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	path := benchmarkDatabase(b)
	for b.Loop() {
		if _, err := Look(path); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkDatabase(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "x.sqlite")
	w := startWriter(b, path)
	w.do(wal, `PRAGMA wal_autocheckpoint = 0`, schema, one(fill))
	return path
}
