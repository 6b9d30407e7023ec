package bounded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// A file system that hangs costs one wait: what lies there does not answer until
// it is back, and what lies elsewhere answers.
func TestAnswers(t *testing.T) {
	behind := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(behind, "a", "b"), 0o700))
	mount := testfs.Mount(t, behind)
	a := filepath.Join(mount.Path, "a")
	for _, path := range []string{a, filepath.Join(a, "none")} {
		if !bounded.Answers(path) {
			t.Fatalf("%s does not answer", path)
		}
	}
	mount.Hang(t)
	for _, path := range []string{mount.Path, a, filepath.Join(a, "b")} {
		if bounded.Answers(path) {
			t.Errorf("%s answers", path)
		}
	}
	if !bounded.Answers(behind) {
		t.Error("a living folder does not answer")
	}
	mount.Answer(t)
	eventually.True(t, "an answer", func() bool { return bounded.Answers(filepath.Join(a, "b")) })
}

// A call that was left behind is told so, and is not made again before it returns.
func TestIn(t *testing.T) {
	folder := t.TempDir()
	let := make(chan struct{})
	told := make(chan error, 1)
	_, err := bounded.In(folder, time.Millisecond, func(left context.Context) (int, error) {
		<-left.Done()
		told <- left.Err()
		<-let
		return 1, nil
	})
	if !errors.Is(err, bounded.ErrNoAnswer) || <-told == nil {
		t.Fatal(err)
	}
	if _, err := bounded.In(folder, time.Hour, func(context.Context) (int, error) { t.Error("called again"); return 0, nil }); !errors.Is(err, bounded.ErrNoAnswer) {
		t.Error(err)
	}
	close(let)
	eventually.True(t, "another call", func() bool {
		n, err := bounded.In(folder, time.Hour, func(context.Context) (int, error) { return 2, nil })
		return err == nil && n == 2
	})
}

// A file system that hangs costs one wait, whichever of its folders are asked about, and until it answers again.
func TestMountHangs(t *testing.T) {
	behind := t.TempDir()
	for _, name := range []string{"a", "b", "c d"} {
		must.Do(t, os.MkdirAll(filepath.Join(behind, name), 0o700))
	}
	mount := testfs.Mount(t, behind)
	mount.Hang(t)
	testfs.AwaitHang(t, filepath.Join(mount.Path, "a"))
	if bounded.Answers(filepath.Join(mount.Path, "a")) {
		t.Fatal("it answers")
	}
	asked := false
	if _, err := bounded.Look(filepath.Join(mount.Path, "b"), func() (int, error) { asked = true; return 0, nil }); !errors.Is(err, bounded.ErrNoAnswer) || asked {
		t.Errorf("another folder of it: %v, asked %v", err, asked)
	}
	if !bounded.Answers(behind) {
		t.Error("a living folder does not answer")
	}
	mount.Answer(t)
	eventually.True(t, "an answer", func() bool { return bounded.Answers(filepath.Join(mount.Path, "c d")) })
}

// However many calls hang, what has answered before is asked again.
func TestAnsweredBefore(t *testing.T) {
	folder, let := t.TempDir(), make(chan struct{})
	if !bounded.Answers(folder) {
		t.Fatal("a folder of this machine does not answer")
	}
	for i := range 150 {
		_, _ = bounded.In(fmt.Sprintf("/nowhere/%d", i), time.Millisecond, func(context.Context) (int, error) { <-let; return 0, nil })
	}
	if !bounded.Answers(folder) {
		t.Error("it is not asked again")
	}
	other := t.TempDir()
	if bounded.Answers(other) {
		t.Error("there is no limit")
	}
	close(let)
	eventually.True(t, "an answer", func() bool { return bounded.Answers(other) })
}

// However many file systems of containers hang, those of this machine are read.
func TestContainersHang(t *testing.T) {
	let := make(chan struct{})
	defer close(let)
	hang := func(path string) error {
		_, err := bounded.In(path, time.Millisecond, func(context.Context) (int, error) { <-let; return 0, nil })
		return err
	}
	for i := range 150 {
		if err := hang(fmt.Sprintf("/proc/1/root/home/%d", i)); !errors.Is(err, bounded.ErrNoAnswer) {
			t.Fatal(err)
		}
	}
	called := false
	if _, err := bounded.In("/proc/2/root/home", time.Hour, func(context.Context) (int, error) { called = true; return 0, nil }); !errors.Is(err, bounded.ErrNoAnswer) || called {
		t.Errorf("one more container: %v, called %v", err, called)
	}
	if !bounded.Answers(t.TempDir()) {
		t.Error("a folder of this machine is not asked")
	}
}
