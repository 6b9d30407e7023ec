package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"rollcall/app/ui/widgets"
)

// TestSubmitOnce checks that Ctrl+Enter submits a form as the button does, and only once.
func TestSubmitOnce(t *testing.T) {
	w := open(t, full())
	f := w.ui.host.NewForm("x", "Do it", "It was not done: ")
	n, gate := 0, make(chan struct{})
	entry := f.NewEntry("")
	f.Ready = func() bool { return entry.Text != "" }
	f.Submit = func() func(context.Context) error {
		return func(context.Context) error { n++; <-gate; return errors.New("no room") }
	}
	f.Open(entry)
	entry.Submit() // the field is empty
	if n > 0 || !f.Primary.Disabled() {
		t.Error("a form without its field was submitted")
	}
	entry.SetText("x")
	for range 3 {
		entry.Submit()
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

// TestSheetFollowsTheWindow checks that a dialog stays within a window that becomes smaller.
func TestSheetFollowsTheWindow(t *testing.T) {
	w := open(t, full())
	w.ui.showRename(full().Sessions()[0])
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
			w.until("the agents", w.launchPage().asked)
			w.launchPage().advanced.OnTapped()
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
