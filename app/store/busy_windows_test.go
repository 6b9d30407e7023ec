package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Windows neither replaces nor removes a file that somebody reads.
func TestReaderDelaysOnly(t *testing.T) {
	f := In(t.TempDir())
	for what, do := range map[string]func() error{
		"write":  func() error { return f.Write("x", value{2}) },
		"remove": func() error { return f.Remove("x") },
	} {
		t.Run(what, func(t *testing.T) {
			must.Do(t, f.Write("x", value{1}))
			reader := must.Get(os.Open(f.File("x")))(t)
			var group sync.WaitGroup
			group.Go(func() {
				time.Sleep(100 * time.Millisecond)
				_ = reader.Close()
			})
			if err := do(); err != nil {
				t.Error(err)
			}
			group.Wait()
		})
	}
}

func TestBusyLimit(t *testing.T) {
	f := In(t.TempDir())
	must.Do(t, f.Write("x", value{1}))
	reader := must.Get(os.Open(f.File("x")))(t)
	defer func() { _ = reader.Close() }()
	if err := f.Write("x", value{2}); err == nil {
		t.Error("a file that is open was replaced")
	}
	var v value
	if err := f.Read("x", &v); err != nil || v.N != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestReadersAndWriter checks that readers and a writer without a lock do not disturb each other.
func TestReadersAndWriter(t *testing.T) {
	f := In(t.TempDir())
	must.Do(t, f.Write("x", value{1}))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				var v value
				if err := f.Read("x", &v); err != nil || v.N != 1 {
					t.Errorf("%+v, %v", v, err)
					return
				}
			}
		})
	}
	group.Go(func() {
		for range 50 {
			if err := f.Write("x", value{1}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	if err := f.Read("y", new(value)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}
