package fuse

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestClockSetBack checks that a fuse that was set while the clock was years ahead does not expire years late.
func TestClockSetBack(t *testing.T) {
	b := newBench(t)
	b.later(1000 * time.Hour)
	b.set(Fuse{Path: t.TempDir(), Script: "true"}, 10*time.Minute)
	b.later(-1000 * time.Hour)
	due, next, err := b.claim(t.Context())
	if left := b.only().Expires.Sub(b.now()); err != nil || len(due) > 0 || left < 9*time.Minute || left > 11*time.Minute {
		t.Errorf("%d fuses are due, and the fuse expires in %s, want none and 10 minutes (%v)", len(due), left, err)
	}
	if in := next.Sub(b.now()); in > maxDelay {
		t.Errorf("the next check is in %s: after the machine slept, the fuse would fire too late", in)
	}
	b.later(11 * time.Minute)
	if due, _, err := b.claim(t.Context()); err != nil || len(due) != 1 {
		t.Errorf("%d fuses are due, want 1 (%v)", len(due), err)
	}
	b.later(-1000 * time.Hour)
	for range 2 {
		_, next, err = b.claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	}
	if in := next.Sub(b.now()); in > Keep+time.Minute {
		t.Errorf("a fuse that has fired is removed in %s, want %s", in, Keep)
	}
}

// TestClaimWithoutLock checks that a claim that cannot lock the folder reports an error, after which the keeper tries
// again.
func TestClaimWithoutLock(t *testing.T) {
	b := newBench(t)
	b.set(Fuse{Path: t.TempDir(), Script: "true"}, time.Minute)
	b.later(time.Hour)
	must.Do(t, os.Remove(filepath.Join(b.Folder(), ".lock")))
	must.Do(t, os.Mkdir(filepath.Join(b.Folder(), ".lock"), 0o700))
	if due, _, err := b.claim(t.Context()); !errors.Is(err, store.ErrNotWritten) || len(due) > 0 {
		t.Errorf("%d fuses are due, %v; want none and an error that is retried", len(due), err)
	}
}

func TestExtendOverdue(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	b.set(Fuse{Path: dir, Script: "true"}, time.Minute)
	for _, d := range []time.Duration{0, -time.Hour} {
		if _, err := b.Extend(t.Context(), dir, d); err == nil {
			t.Errorf("extended by %s", d)
		}
	}
	b.later(48 * time.Hour)
	x, err := b.Extend(t.Context(), dir, 10*time.Minute)
	if left := x.Expires.Sub(b.now()); err != nil || left < 9*time.Minute {
		t.Errorf("the fuse expires in %s, %v; want 10 minutes", left, err)
	}
}

// TestSameFolderByAnotherPath checks that a folder has only one fuse if its path is written differently.
func TestSameFolderByAnotherPath(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	x := b.set(Fuse{Path: dir, Script: "true"}, time.Hour)
	other := filepath.Join(t.TempDir(), "other")
	must.Do(t, os.Rename(dir, other))
	// As with a mount, or a file system that ignores letter case, the stored path leads to the folder but differs from
	// its real path.
	if err := os.Symlink(other, x.Path); err != nil {
		t.Skip(err)
	}
	if _, err := b.Set(t.Context(), Fuse{Path: other, Script: "true"}, time.Hour); !errors.Is(err, ErrExists) {
		t.Errorf("a second fuse: %v, want ErrExists", err)
	}
	if _, err := b.Cancel(t.Context(), other); err != nil {
		t.Error(err)
	}
}

// TestFolderIsGone checks that the script for a removed folder runs, and in no other agent's folder.
func TestFolderIsGone(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	script := "pwd"
	if runtime.GOOS == "windows" {
		script = "cd" // of cmd.exe
	}
	b.set(Fuse{Path: dir, Script: script}, time.Minute)
	must.Do(t, os.Remove(dir))
	b.later(time.Hour)
	b.keep(nil)
	eventually.True(b.t, "its result", func() bool { return len(b.only().Results) > 0 })
	if x := b.only(); strings.TrimSpace(x.Output) != filepath.Dir(b.Folder()) || x.Results[0] != "script: exit 0" {
		t.Errorf("%q, %q", x.Results, x.Output)
	}
}

// TestCancelOfAFolderThatIsGone checks that the fuse of a removed folder is found by its path, which may be relative or
// lead through a link.
func TestCancelOfAFolderThatIsGone(t *testing.T) {
	b := newBench(t)
	base := t.TempDir()
	t.Chdir(base)
	if err := errors.Join(os.Mkdir("true", 0o700), os.Symlink("true", "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"x", "true/x", "link/x"} {
		must.Do(t, os.Mkdir(name, 0o700))
		b.set(Fuse{Path: name, Script: "true"}, time.Hour)
		must.Do(t, os.Remove(name))
		if _, err := b.Cancel(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

// TestFiresOnceAfterAReboot: whatever the clock shows after a reboot, a fuse that fired is not fired again, and one whose
// time has come is fired once.
func TestFiresOnceAfterAReboot(t *testing.T) {
	for name, off := range map[string]time.Duration{"at once": 0, "the clock ahead": 20 * time.Hour, "the clock far ahead": 1000 * time.Hour, "the clock back": -1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.set(Fuse{Path: t.TempDir(), Script: "true"}, time.Minute)
			b.later(2 * time.Minute)
			due, _, err := b.claim(t.Context())
			if err != nil || len(due) != 1 {
				t.Fatalf("%d are due, %v", len(due), err)
			}
			x := due[0] // the machine goes down while its script runs: the same pid is of another boot
			x.Runner.Boot = "before"
			must.Do(t, b.folder.Write(x.name, x))
			b.later(off)
			for range 3 {
				if due, _, err := b.claim(t.Context()); err != nil || len(due) != 0 {
					t.Errorf("%d are due after the reboot, %v", len(due), err)
				}
			}

			b.later(-off)
			b.set(Fuse{Path: t.TempDir(), Script: "true"}, time.Minute)
			b.later(off)
			fired := 0
			for range 3 {
				due, _, err := b.claim(t.Context())
				must.Do(t, err)
				fired += len(due)
				b.later(2 * time.Minute)
			}
			if fired != 1 {
				t.Errorf("the second fired %d times", fired)
			}
		})
	}
}

// TestClockSetBackWhileItFires: the result of the script is kept, so that nothing runs the script again.
func TestClockSetBackWhileItFires(t *testing.T) {
	b := newBench(t)
	b.set(Fuse{Path: t.TempDir(), Script: "true", Again: true}, time.Minute)
	b.later(2 * time.Minute)
	due, _, err := b.claim(t.Context())
	if err != nil || len(due) != 1 {
		t.Fatalf("%d are due, %v", len(due), err)
	}
	b.later(-time.Hour)
	if _, _, err := b.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	x := due[0]
	x.FinishedAt, x.Results = b.now(), []string{"script: exit 0"}
	must.Do(t, b.writeResult(t.Context(), x))
	if got := b.only(); !got.Finished() {
		t.Errorf("the result is lost: %+v", got)
	}
}
