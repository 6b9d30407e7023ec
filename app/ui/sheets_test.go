package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/fuse"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
)

// TestSubmitOnce checks that Ctrl+Enter submits a form as the button does, and only once.
func TestSubmitOnce(t *testing.T) {
	w := open(t, full())
	w.ui.showLock()
	s := w.ui.host.Sheet
	entry := func() *widgets.Entry { return w.win.Canvas().Focused().(*widgets.Entry) }
	entry().Submit() // without a folder
	if strings.Contains(strings.Join(shownTexts(s.Popup), "\n"), "no such file") {
		t.Error("a lock of nothing was tried")
	}
	s.Close()
	f := w.ui.host.NewForm("x", "Do it", "It was not done: ")
	n, gate := 0, make(chan struct{})
	f.Submit = func() func(context.Context) error {
		return func(context.Context) error { n++; <-gate; return errors.New("no room") }
	}
	f.Open(f.NewEntry(""))
	for range 3 {
		f.Send()
	}
	close(gate)
	w.until("the failure", func() bool { return !f.Primary.Disabled() })
	shows(t, f.Popup, "no room")
	if n != 1 {
		t.Errorf("it was done %d times", n)
	}
	// An error after the form was closed is shown above the list.
	f.Send()
	f.Close()
	w.until("the notice", func() bool { return w.ui.sessions.notice != "" })
	shows(t, w.ui.content, "It was not done: no room", "Dismiss")
	tap(t, w.ui.content, "Dismiss")
	if w.ui.sessions.problem.Content.Visible() {
		t.Error("the notice stays")
	}
}

// TestSheetIsCentred: a sheet is in the middle of the window, also after its body has grown.
func TestSheetIsCentred(t *testing.T) {
	w := open(t, full())
	f := w.ui.host.NewForm("x", "Do it", "It was not done: ")
	f.Open(f.NewEntry(""))
	for _, text := range []string{"no room", strings.Repeat("no room. ", 100)} {
		f.ShowProblem(text)
		at := f.Popup.Position()
		size := f.Popup.Size()
		all := w.win.Canvas().Size()
		if right, below := all.Width-at.X-size.Width, all.Height-at.Y-size.Height; max(at.X-right, right-at.X, at.Y-below, below-at.Y) > 1 {
			t.Errorf("a sheet of %v is at %v in a window of %v", size, at, all)
		}
	}
}

// TestClosedSheetShowsFailures checks that a failure after the sheet was closed is shown above the list.
func TestClosedSheetShowsFailures(t *testing.T) {
	w := open(t, full())
	s := w.ui.host.NewSheet("x", 400)
	s.Close()
	widgets.Run(s, "Removing…", "", func(context.Context, func(string)) (int, error) { return 0, nil }, func(int) {})
	if s.IsWaiting() {
		t.Error("a closed sheet keeps its activity indicator running")
	}
}

// TestFolderCardsStay checks that cards, with the focus and the selection in them, stay while times change and other
// locks are added.
func TestFolderCardsStay(t *testing.T) {
	w := open(t, full())
	w.ui.open(pageLocks)
	w.until("the page", func() bool { return w.ui.locks.shown != nil })
	k := &folderState{locks: []lock.Lock{{Path: "/home/dev/a", Kind: lock.Manual, By: "mia", Since: ago(3 * time.Minute)}},
		fuses: []fuse.Fuse{{Path: "/home/dev/b", Script: "x", Expires: clock.Add(24 * time.Minute)}}}
	w.ui.locks.show(k)
	first := w.ui.locks.cards[0]
	old := w.ui.host.Now
	w.ui.host.Now = func() time.Time { return old().Add(10 * time.Minute) }
	w.ui.showAges()
	shows(t, w.ui.locks.content, "(13 m ago)", "(14 minutes from now)")
	if w.ui.locks.cards[0] != first {
		t.Error("there is a new card: the focus and the selection in the old one are lost")
	}
	again := *k
	again.fuses = nil
	w.ui.locks.show(&again)
	shows(t, w.ui.locks.content, "No timer is set.")
}

// TestChangeFails: the button works again, and a form that is open stays.
func TestChangeFails(t *testing.T) {
	w := open(t, full())
	b := w.ui.host.NewButton("Unlock", nil, nil)
	w.ui.showLock()
	s := w.ui.host.Sheet
	w.ui.change(b, "It was not unlocked: ", func(context.Context) error { return errors.New("no room") })
	w.until("the failure", func() bool { return w.ui.sessions.notice != "" })
	w.until("the page", func() bool { return w.ui.locks.shown != nil }) // it is read again
	if w.ui.host.Sheet != s || b.Disabled() {
		t.Errorf("the form is closed: %t, the button is dead: %t", w.ui.host.Sheet != s, b.Disabled())
	}
}

func TestFitPath(t *testing.T) {
	w := open(t, full())
	_ = w
	size, style := widgets.TextSize(theme.SizeNameText), fyne.TextStyle{}
	path := "/home/dev/" + strings.Repeat("very-long-folder/", 12) + "分散システム👩‍👩‍👧"
	for _, width := range []float32{0, 5, 20, 60, 150, 400, 5000} {
		got := widgets.TruncatePath(path, width, size, style)
		if m := fyne.MeasureText(got, size, style).Width; m > width && got != "…" {
			t.Errorf("%g: %q is %g wide", width, got, m)
		}
		if width >= 150 && (!strings.HasPrefix(got, "/hom") || !strings.HasSuffix(got, "システム👩‍👩‍👧")) {
			t.Errorf("%g: %q lacks an end", width, got)
		}
	}
}

// TestCleanupGoesOnWhenClosed: files are removed although the sheet is closed meanwhile, and a failure is shown above the list.
func TestCleanupGoesOnWhenClosed(t *testing.T) {
	w := open(t, full())
	t.Setenv("HOME", t.TempDir())
	s := w.ui.host.NewSheet("Clean up", 680)
	w.ui.offerCleanup(s, leftovers{items: []cleanup.Item{{Path: "/srv/x"}}})
	tap(t, s.Popup, "Remove 1 file, 0 B")
	shows(t, s.Popup, "Close")
	if strings.Contains(strings.Join(shownTexts(s.Popup), "\n"), "Cancel") {
		t.Error("it offers to cancel what can't be")
	}
	s.Close()
	w.until("the notice", func() bool { return strings.Contains(w.ui.sessions.notice, "/srv/x: not removed: ") })
}

// TestSheetFollowsTheWindow checks that a dialog stays within a window that becomes smaller.
func TestSheetFollowsTheWindow(t *testing.T) {
	w := open(t, full())
	w.ui.showFuse("/home/dev")
	pop := w.ui.host.Sheet.Popup
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

// TestFocusIsVisible: on each page the Tab key reaches only widgets that are visible then, also in a small window.
func TestFocusIsVisible(t *testing.T) {
	set, _ := settingsWindow(t, "[homes]\nclaude-code = [\"/srv/a\", \"/srv/b\"]\n")
	w := openWith(t, &fakeCore{snapshot: broken(full())}, Options{Agents: usualAgents(), Live: set.ui.options.Live})
	w.win.Resize(fyne.NewSize(700, 420))
	c := w.win.Canvas()
	for page := range w.ui.pages {
		w.ui.open(page)
		if page == pageLaunch {
			w.until("the agents", func() bool { return w.ui.launch.asked })
			w.ui.launch.more.toggle()
		}
		w.until("the settings", func() bool { return page != pageSettings || strings.Contains(onPage(w), "/srv/b") })
		c.Unfocus()
		c.Capture()
		seen := map[fyne.Focusable]bool{}
		for c.FocusNext(); !seen[c.Focused()]; c.FocusNext() {
			f := c.Focused()
			seen[f] = true
			if top, bottom, height := visiblePart(w.ui.pages[page].content, f.(fyne.CanvasObject)); top < 0 || bottom > height {
				t.Errorf("page %d: a %T has the focus and is not visible: from %g to %g of %g", page, f, top, bottom, height)
			}
		}
		if len(seen) < 5 {
			t.Errorf("page %d: the Tab key reaches only %d widgets", page, len(seen))
		}
	}
}

// visiblePart returns where o is in the smallest part of content that scrolls it, and the height of that part.
func visiblePart(content, o fyne.CanvasObject) (top, bottom, height float32) {
	d := fyne.CurrentApp().Driver()
	for _, part := range visible(content) {
		scroll, ok := part.(*container.Scroll)
		if ok && scroll.Direction != container.ScrollHorizontalOnly && slices.Contains(visible(scroll.Content), o) {
			top, height = d.AbsolutePositionForObject(o).Y-d.AbsolutePositionForObject(scroll).Y, scroll.Size().Height
			bottom = top + o.Size().Height
		}
	}
	return top, bottom, height
}
