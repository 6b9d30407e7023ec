package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"rollcall/app/cleanup"
	"rollcall/app/fuse"
	"rollcall/app/lock"
)

// TestSubmitOnce: Ctrl+Enter does what the button does, and once.
func TestSubmitOnce(t *testing.T) {
	w := open(t, full())
	w.ui.showLock()
	s := w.ui.sheet
	entry := func() *formEntry { return w.win.Canvas().Focused().(*formEntry) }
	entry().submit() // without a folder
	if strings.Contains(strings.Join(shownTexts(s.pop), "\n"), "no such file") {
		t.Error("a lock of nothing was tried")
	}
	s.close()
	s = w.ui.newSheet("x", 400)
	b := s.button("Do it", nil)
	problem := container.NewStack()
	s.show([]fyne.CanvasObject{problem}, b)
	n, gate := 0, make(chan struct{})
	for range 3 {
		s.submit(b, problem, func(context.Context) error { n++; <-gate; return errors.New("no room") })
	}
	close(gate)
	w.until("the failure", func() bool { return !b.Disabled() })
	if n != 1 {
		t.Errorf("it was done %d times", n)
	}
	// What fails once nobody looks is told above the list.
	s.submit(b, problem, func(context.Context) error { return errors.New("no room") })
	s.close()
	w.until("the notice", func() bool { return w.ui.sessions.notice != "" && w.ui.locks.shown != nil })
	shows(t, w.ui.content, "no room", "Dismiss")
	tap(t, w.ui.content, "Dismiss")
	if w.ui.sessions.problem.content.Visible() {
		t.Error("the notice stays")
	}
}

// TestClosedSheetTellsOfFailures: a removal goes on when its sheet is closed.
func TestClosedSheetTellsOfFailures(t *testing.T) {
	w := open(t, full())
	w.ui.warnOf([]cleanup.Result{{Item: cleanup.Item{Path: "/a"}}})
	if w.ui.sessions.notice != "" {
		t.Error("a success is told as a failure")
	}
	w.ui.warnOf([]cleanup.Result{{Item: cleanup.Item{Path: "/a"}, Err: errors.New("busy")}})
	shows(t, w.ui.content, "/a: busy")
	s := w.ui.newSheet("x", 400)
	s.close()
	s.waiting("Removing…", "Close")
	if s.busy != nil {
		t.Error("a closed sheet goes on turning its sign")
	}
}

// TestKeptCardsStay: what has the focus keeps it while times go by and others'
// locks come.
func TestKeptCardsStay(t *testing.T) {
	w := open(t, full())
	w.ui.open(pageLocks)
	w.until("the page", func() bool { return w.ui.locks.shown != nil })
	k := &kept{locks: []lock.Lock{{Path: "/home/dev/a", Kind: lock.Manual, By: "mia", Since: ago(3 * time.Minute)}},
		fuses: []fuse.Fuse{{Path: "/home/dev/b", Script: "x", Expires: clock.Add(24 * time.Minute)}}}
	w.ui.locks.show(k)
	first := w.ui.locks.cards[0]
	old := w.ui.now
	w.ui.now = func() time.Time { return old().Add(10 * time.Minute) }
	w.ui.showAges()
	shows(t, w.ui.locks.content, "(13 m ago)", "in 14 m")
	if w.ui.locks.cards[0] != first {
		t.Error("the card was made anew: what has the focus or is selected there is lost")
	}
	again := *k
	again.fuses = nil
	w.ui.locks.show(&again)
	shows(t, w.ui.locks.content, "No timer runs.")
}

// TestChangeFails: the button works again, and a form that is open stays.
func TestChangeFails(t *testing.T) {
	w := open(t, full())
	b := newButton("Unlock", nil, w.ui.typedKey, nil)
	w.ui.showLock()
	s := w.ui.sheet
	w.ui.change(b, "It was not unlocked: ", func(context.Context) error { return errors.New("no room") })
	w.until("the failure", func() bool { return w.ui.sessions.notice != "" })
	w.until("the page", func() bool { return w.ui.locks.shown != nil }) // it is read anew
	if w.ui.sheet != s || b.Disabled() {
		t.Errorf("the form is closed: %t, the button is dead: %t", w.ui.sheet != s, b.Disabled())
	}
}

func TestFitPath(t *testing.T) {
	w := open(t, full())
	_ = w
	size, style := sizes[theme.SizeNameText], fyne.TextStyle{}
	path := "/home/dev/" + strings.Repeat("very-long-folder/", 12) + "分散システム👩‍👩‍👧"
	for _, width := range []float32{0, 5, 20, 60, 150, 400, 5000} {
		got := fitPath(path, width, size, style)
		if m := fyne.MeasureText(got, size, style).Width; m > width && got != "…" {
			t.Errorf("%g: %q is %g wide", width, got, m)
		}
		if width >= 150 && (!strings.HasPrefix(got, "/hom") || !strings.HasSuffix(got, "システム👩‍👩‍👧")) {
			t.Errorf("%g: %q lacks an end", width, got)
		}
	}
}

// TestCleanupGoesOnWhenClosed: see leftovers.carryOut.
func TestCleanupGoesOnWhenClosed(t *testing.T) {
	w := open(t, full())
	home := t.TempDir()
	t.Setenv("HOME", home)
	l := &leftovers{sheet: w.ui.newSheet("Clean up", 680), keep: []bool{false}}
	l.items = []cleanup.Item{{Path: filepath.Join(home, "x")}}
	l.carryOut()
	shows(t, l.pop, "Close")
	if strings.Contains(strings.Join(shownTexts(l.pop), "\n"), "Cancel") {
		t.Error("it offers to cancel what can't be")
	}
	l.close()
	w.until("the notice", func() bool { return strings.Contains(w.ui.sessions.notice, "Nothing was removed") })
	_ = os.Remove(home)
}

// TestSheetFollowsTheWindow: a dialog stays within a window that gets smaller.
func TestSheetFollowsTheWindow(t *testing.T) {
	w := open(t, full())
	w.ui.showFuse("/home/dev")
	pop := w.ui.sheet.pop
	if got := pop.Content.Size(); got.Width > 560 || got.Width < 500 {
		t.Fatalf("at first it is %v", got)
	}
	w.win.Resize(fyne.NewSize(420, 420))
	if got := pop.Content.Size(); got.Width > 420 || got.Height > 420 {
		t.Errorf("in a window of 420 by 420 it is %v", got)
	}
	w.win.Resize(fyne.NewSize(1040, 680))
	if got := pop.Content.Size(); got.Width < 500 {
		t.Errorf("in a large window it stays %v", got)
	}
}

// TestFocusIsInSight: the Tab key leads to fields below what is shown, too.
func TestFocusIsInSight(t *testing.T) {
	w := open(t, full())
	w.ui.open(pageLaunch)
	p := w.ui.launch
	w.until("the agents", func() bool { return p.asked })
	p.more.toggle()
	w.win.Resize(fyne.NewSize(900, 420))
	d := fyne.CurrentApp().Driver()
	for _, f := range []fyne.Focusable{p.folder, p.choices[0].check, p.choices[0].mode, p.prompt, p.where, p.more.files, p.more.onComplete, p.more.keepEnv, p.folder} {
		w.ui.focus(f)
		o := f.(fyne.CanvasObject)
		top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(p.scroll).Y
		if top < 0 || top+o.Size().Height > p.scroll.Size().Height {
			t.Errorf("a %T has the focus out of sight: from %g to %g of %g", f, top, top+o.Size().Height, p.scroll.Size().Height)
		}
	}
}
