package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// A file system that never answers costs a caller its limit once; afterwards calls
// fail at once, until it answers again. What was left behind changes nothing.
func TestFileSystemThatHangs(t *testing.T) {
	behind := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(behind, "rollcall"), 0o700))
	mount := testfs.Mount(t, behind)
	f := Below(filepath.Join(mount.Path, "rollcall"), "x")
	must.Do(t, f.Write("x", value{1}))
	mount.Hang(t)
	var v value
	if err := f.Read("x", &v); !errors.Is(err, bounded.ErrNoAnswer) {
		t.Fatalf("%+v, %v", v, err)
	}
	for what, err := range map[string]error{
		"write": f.Write("x", value{2}), "remove": f.Remove("x"), "lock": second(f.Lock(t.Context())), "names": second(f.Names()),
	} {
		if !errors.Is(err, bounded.ErrNoAnswer) {
			t.Errorf("%s: %v", what, err)
		}
	}
	mount.Answer(t)
	eventually.True(t, "the answer", func() bool { return f.Read("x", &v) == nil })
	if v.N != 1 {
		t.Errorf("%+v", v)
	}
	must.Do(t, f.Write("x", value{3}))
}

func second[T any](_ T, err error) error { return err }
