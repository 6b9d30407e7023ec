package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app/fuse"
	"rollcall/app/lock"
)

func (w *window) locksPage() string { return strings.Join(shownTexts(w.ui.locks.content), "\n") }

// TestLocks: the page follows the files, whoever writes them.
func TestLocks(t *testing.T) {
	w := open(t, full())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.ui.open(pageLocks)
	w.until("the page", func() bool { return w.ui.locks.shown != nil })
	shows(t, w.ui.locks.content, "No folder is locked.", "No timer runs.")
	tap(t, w.ui.locks.content, "Lock a folder…")
	s := w.ui.sheet
	typeInto(t, s.pop, "a folder", filepath.Join(dir, "gone"))
	typeInto(t, s.pop, "for those who are refused", "a release")
	tap(t, s.pop, "Lock it")
	w.until("the refusal", func() bool { return strings.Contains(strings.Join(shownTexts(s.pop), "\n"), "no such file") })
	typeInto(t, s.pop, "a folder", dir)
	tap(t, s.pop, "Lock it")
	w.until("the lock", func() bool { return strings.Contains(w.locksPage(), ": a release") && w.ui.sheet == nil })
	shows(t, w.ui.locks.content, dir, "locked by "+userName()+": a release")
	tap(t, w.ui.locks.content, "Unlock")
	w.until("the unlocking", func() bool { return strings.Contains(w.locksPage(), "No folder is locked.") })

	// Another process locks, too.
	k := lock.Lock{Path: dir, Kind: lock.Manual, By: "mia"}
	if _, err := w.ui.options.Launches.Locks().Take(t.Context(), k, false, nil); err != nil {
		t.Fatal(err)
	}
	w.until("the other's lock", func() bool { return strings.Contains(w.locksPage(), "locked by mia") })
	if err := os.WriteFile(filepath.Join(w.ui.options.Launches.Locks().Folder(), "x.json"), []byte("{\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("the problem", func() bool { return strings.Contains(w.locksPage(), "Not all locks could be read") })
	shows(t, w.ui.locks.content, "locked by mia")
}

func TestFuses(t *testing.T) {
	w := open(t, full())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.ui.now = time.Now
	w.ui.open(pageLocks)
	w.until("the page", func() bool { return w.ui.locks.shown != nil })
	tap(t, w.ui.locks.content, "Set a timer…")
	s := w.ui.sheet
	typeInto(t, s.pop, "a folder", dir)
	typeInto(t, s.pop, "https://…, told when its time is up", "ftp://x")
	tap(t, s.pop, "Set it")
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(s.pop), "\n"), "a webhook is an address")
	})
	typeInto(t, s.pop, "https://…, told when its time is up", "")
	typeInto(t, s.pop, "a command, run in the folder, for 2 minutes at most", "make down")
	typeInto(t, s.pop, "what it is for", "the test cluster")
	tap(t, s.pop, "Set it")
	w.until("the timer", func() bool { return strings.Contains(w.locksPage(), "make down") && w.ui.sheet == nil })
	shows(t, w.ui.locks.content, dir, "the test cluster", "in 9 m")
	tap(t, w.ui.locks.content, "Extend…")
	tap(t, w.ui.sheet.pop, "Extend it")
	w.until("the longer time", func() bool { return strings.Contains(w.locksPage(), "in 19 m") && w.ui.sheet == nil })
	tap(t, w.ui.locks.content, "Cancel")
	w.until("its end", func() bool { return strings.Contains(w.locksPage(), "No timer runs.") })
	w.ui.change(newButton("", nil, nil, nil), "It did not work: ", func(context.Context) error { return errors.New("no room") })
	w.until("the failure", func() bool { return w.ui.sheet != nil })
	shows(t, w.ui.sheet.pop, "It did not work: no room")
}

func TestFuseState(t *testing.T) {
	for want, x := range map[string]fuse.Fuse{
		"in 1 h 10 m":     {Expires: clock.Add(70*time.Minute + time.Second)},
		"overdue since":   {Expires: ago(time.Minute)},
		"and is at work":  {Expires: ago(time.Minute), FiredAt: ago(time.Minute)},
		"script: exit 2":  {Expires: ago(time.Minute), FiredAt: ago(time.Minute), Results: []string{"script: exit 2"}},
		"webhook: told":   {Expires: ago(time.Minute), FiredAt: ago(time.Minute), Results: []string{"script: exit 0", "webhook: told"}},
		"less than a min": {Expires: clock.Add(time.Second)},
		"in 3 days":       {Expires: clock.Add(73 * time.Hour)},
	} {
		icon, text := fuseState(&x, clock)
		if !strings.Contains(text, want) {
			t.Errorf("%q has no %q", text, want)
		}
		if failed := icon == newIcon("failed", colorBad); failed != (want == "script: exit 2") {
			t.Errorf("%q has the sign %s", text, icon.file)
		}
	}
}

func TestParseIn(t *testing.T) {
	for text, want := range map[string]time.Duration{"45m": 45 * time.Minute, "2 H": 2 * time.Hour, "90": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"": 0, "-5m": 0, "0": 0, "soon": 0, "99999999999999999999": 0} {
		got, err := parseIn(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
