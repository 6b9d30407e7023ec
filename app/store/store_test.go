package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/internal/must"
)

type value struct{ N int }

const roleVariable = "ROLLCALL_STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(roleVariable); dir != "" {
		os.Exit(count(In(dir)))
	}
	goleak.VerifyTestMain(m)
}

// count adds one to the same value, 50 times.
func count(f Folder) int {
	for range 50 {
		unlock, err := f.Lock(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		var v value
		err = f.Read("n", &v)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			v.N++
			err = f.Write("n", v)
		}
		unlock()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func TestReadWriteRemove(t *testing.T) {
	f := In(filepath.Join(t.TempDir(), "a", "b"))
	var v value
	if err := f.Read("x", &v); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read of nothing: %v", err)
	}
	if names, err := f.Names(); len(names) > 0 || err != nil {
		t.Errorf("names of nothing: %v, %v", names, err)
	}
	must.Do(t, errors.Join(f.Write("x", value{1}), f.Write("x", value{2}), f.Write("y", value{3})))
	if err := f.Read("x", &v); err != nil || v.N != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	if all, err := All[value](f); err != nil || len(all) != 2 || all["y"].N != 3 {
		t.Errorf("%v, %v", all, err)
	}
	if err := errors.Join(f.Remove("x"), f.Remove("x")); err != nil {
		t.Error(err)
	}
	if names, _ := f.Names(); len(names) != 1 {
		t.Errorf("names %v", names)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{f.Path(): 0o700, f.File("y"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v", path, info.Mode(), want)
		}
	}
}

// A damaged file is kept beside, said once, and does not take away the others.
func TestDamaged(t *testing.T) {
	f := In(t.TempDir())
	must.Do(t, f.Write("good", value{1}))
	for name, text := range map[string]string{"torn": `{"N": 1`, "empty": "", "other": `[1]`, "zeros": "\x00\x00"} {
		must.Do(t, os.WriteFile(f.File(name), []byte(text), 0o600))
	}
	all, err := All[value](f)
	var d *DamagedError
	if !errors.As(err, &d) || len(all) != 1 || all["good"].N != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if n := strings.Count(err.Error(), "set aside as"); n != 4 {
		t.Errorf("%d set aside: %v", n, err)
	}
	if all, err := All[value](f); err != nil || len(all) != 1 {
		t.Errorf("again: %v, %v", all, err)
	}
	if kept, _ := filepath.Glob(filepath.Join(f.Path(), "*"+damaged+"*")); len(kept) != 4 {
		t.Errorf("kept %v", kept)
	}
}

func TestHuge(t *testing.T) {
	f := In(t.TempDir())
	must.Do(t, os.Truncate(touch(t, f.File("big")), 1<<30))
	var v value
	if err := f.Read("big", &v); err == nil || !strings.Contains(err.Error(), "big.json") {
		t.Errorf("%v", err)
	}
}

func touch(t *testing.T, path string) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, nil, 0o600))
	return path
}

// TestWriteWhileSwept: a clock that has jumped makes a Sweep take the writers of that moment for dead. What they write is kept.
func TestWriteWhileSwept(t *testing.T) {
	f := In(t.TempDir())
	sweep, swept := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swept)
		for range sweep {
			_ = f.Sweep(time.Now().Add(2 * tmpAge)) // it may find a file gone
		}
	}()
	for n := range 500 {
		sweep <- struct{}{}
		if err := f.Write("n", value{n}); err != nil {
			t.Errorf("write %d: %v", n, err)
		}
	}
	close(sweep)
	<-swept
}

func TestSweep(t *testing.T) {
	f := In(t.TempDir())
	old, young := touch(t, filepath.Join(f.Path(), "a"+temporary+"1")), touch(t, filepath.Join(f.Path(), "b"+temporary+"2"))
	now := time.Now()
	must.Do(t, os.Chtimes(old, now, now.Add(-2*tmpAge)))
	must.Do(t, f.Sweep(now))
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dead writer's file: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file that may be being written: %v", err)
	}
}

// Goroutines and processes that read, add and write lose no step.
func TestLock(t *testing.T) {
	f := In(t.TempDir())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleVariable+"="+f.Path())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		group.Go(func() {
			if count(f) != 0 {
				t.Error("a goroutine failed")
			}
		})
	}
	group.Wait()
	var v value
	if err := f.Read("n", &v); err != nil || v.N != 300 {
		t.Errorf("%d steps, %v; want 300", v.N, err)
	}
}

func TestLockGivesUp(t *testing.T) {
	f := In(t.TempDir())
	unlock := must.Get(f.Lock(t.Context()))(t)
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := f.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held folder: %v", err)
	}
}

// A value that knows the name of its file.
type namedValue struct{ Name string }

func (n *namedValue) Check(name string) error {
	if n.Name != name {
		return errors.New("it is another's")
	}
	return nil
}

// What is no file of Rollcall's never hangs a reader and is set aside; what a
// newer one wrote is left where it is.
func TestForeign(t *testing.T) {
	f := In(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(f.File(name), []byte(text), 0o600))
	}
	write("null", "null")
	write("other", `{"Name":"../x"}`)
	write("huge", `{"Name":"huge","X":"`+strings.Repeat("x", maxSize)+`"}`)
	write("newer", `{"schema":2,"Name":{"first":"newer"}}`)
	write("old", `{"Name":"old"}`)
	must.Do(t, os.Mkdir(f.File("folder"), 0o700))
	must.Do(t, f.Write("new", namedValue{"new"}))
	for _, name := range []string{"null", "other", "huge", "folder"} {
		var v namedValue
		var d *DamagedError
		if err := f.Read(name, &v); !errors.As(err, &d) || d.Aside == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"old", "new"} {
		var v namedValue
		if err := f.Read(name, &v); err != nil || v.Name != name {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	var v namedValue
	if err := f.Read("newer", &v); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
	if names, err := f.Names(); err != nil || strings.Join(names, " ") != "new newer old" {
		t.Errorf("left are %v, %v", names, err)
	}
}

// A folder that is removed while somebody watches it is watched again.
func TestChangesOfAFolderMadeAnew(t *testing.T) {
	f := In(filepath.Join(t.TempDir(), "x"))
	changed := must.Get(f.Changes(t.Context()))(t)
	must.Do(t, os.RemoveAll(f.Path()))
	wait := func() {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal("no change was reported")
		}
	}
	wait()
	for i := range 20 { // more than the removal can report
		must.Do(t, f.Write("v", value{i}))
		wait()
	}
}
