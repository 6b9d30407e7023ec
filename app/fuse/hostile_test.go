package fuse

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clock that was years ahead when a fuse was set does not let it burn for years.
func TestClockSetBack(t *testing.T) {
	b := newBench(t)
	b.later(1000 * time.Hour)
	b.set(Fuse{Path: t.TempDir(), Script: "true"}, 10*time.Minute)
	b.later(-1000 * time.Hour)
	due, next, err := b.claim(t.Context())
	if burns := time.Until(b.only().Expires); err != nil || len(due) > 0 || burns < 9*time.Minute || burns > 11*time.Minute {
		t.Errorf("%d due, it burns %s, %v", len(due), burns, err)
	}
	if in := time.Until(next); in > lookAgain {
		t.Errorf("it is looked at in %s: a machine that sleeps meanwhile fires it too late", in)
	}
	b.later(11 * time.Minute)
	if due, _, err := b.claim(t.Context()); err != nil || len(due) != 1 {
		t.Errorf("%d due, %v", len(due), err)
	}
	b.later(-1000 * time.Hour)
	for range 2 {
		if _, next, err = b.claim(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if in := next.Sub(b.now()); in > Keep+time.Minute {
		t.Errorf("a fired one is removed in %s", in)
	}
}

// Locks that can't be had now are tried again: a fuse is never forgotten.
func TestClaimIsTriedAgain(t *testing.T) {
	b := newBench(t)
	b.set(Fuse{Path: t.TempDir(), Script: "true"}, time.Minute)
	b.later(time.Hour)
	if err := os.Remove(filepath.Join(b.Folder(), ".lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b.Folder(), ".lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if due, next, err := b.claim(t.Context()); err == nil || len(due) > 0 || next.IsZero() {
		t.Errorf("%d due, next %s, %v", len(due), next, err)
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
		t.Errorf("it burns %s more, %v", left, err)
	}
}

// One folder has one fuse, however it is named.
func TestSameFolderByAnotherPath(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	x := b.set(Fuse{Path: dir, Script: "true"}, time.Hour)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Rename(dir, other); err != nil {
		t.Fatal(err)
	}
	// As a mount or a file system that ignores case would have it: the path that
	// the fuse has leads to the folder, and is not its true one.
	if err := os.Symlink(other, x.Path); err != nil {
		t.Skip(err)
	}
	if _, err := b.Set(t.Context(), Fuse{Path: other, Script: "true"}, time.Hour); !errors.Is(err, ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := b.Cancel(t.Context(), other); err != nil {
		t.Error(err)
	}
}

// A script meant for a folder that is gone does not run in another one.
func TestFolderIsGone(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	b.set(Fuse{Path: dir, Script: "pwd; ls -A"}, time.Minute)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	b.later(time.Hour)
	b.keep(nil)
	b.until("its result", func() bool { return len(b.only().Results) > 0 })
	x := b.only()
	here, err := os.Getwd()
	if err != nil || strings.TrimSpace(x.Output) == here || strings.Count(x.Output, "\n") != 1 || !strings.Contains(x.Results[0], "gone") {
		t.Errorf("%q, %q, %v", x.Results, x.Output, err)
	}
}

// A webhook that sends elsewhere was not told, and elsewhere nothing is told.
func TestWebhookRedirects(t *testing.T) {
	b := newBench(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("told elsewhere") }))
	defer elsewhere.Close()
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer moved.Close()
	b.set(Fuse{Path: t.TempDir(), Webhook: moved.URL}, time.Minute)
	b.later(time.Hour)
	b.keep(nil)
	b.until("its result", func() bool { return len(b.only().Results) > 0 })
	if x := b.only(); x.Results[0] != "webhook: not told: it answered 302 Found" {
		t.Errorf("%q", x.Results)
	}
}

// What belongs to a folder that is gone is still found by its name, also by one
// that is relative or leads through a link.
func TestCancelOfAFolderThatIsGone(t *testing.T) {
	b := newBench(t)
	base := t.TempDir()
	t.Chdir(base)
	if err := errors.Join(os.Mkdir("true", 0o700), os.Symlink("true", "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"x", "true/x", "link/x"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		b.set(Fuse{Path: name, Script: "true"}, time.Hour)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Cancel(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}
