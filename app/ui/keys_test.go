package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/ui/widgets"
)

// key presses a key as the window's driver does: what has the focus gets it,
// else the window.
func (w *window) key(name fyne.KeyName) {
	w.t.Helper()
	c := w.win.Canvas()
	if f := c.Focused(); f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: name})
	} else {
		c.OnTypedKey()(&fyne.KeyEvent{Name: name})
	}
}

// rune types a character as the window's driver does.
func (w *window) rune(r rune) {
	if f := w.win.Canvas().Focused(); f != nil {
		f.TypedRune(r)
	}
}

// shortcut presses a shortcut as the window's driver does.
func (w *window) shortcut(name fyne.KeyName) {
	s := &desktop.CustomShortcut{KeyName: name, Modifier: fyne.KeyModifierShortcutDefault}
	if f, ok := w.win.Canvas().Focused().(fyne.Shortcutable); ok {
		f.TypedShortcut(s)
		return
	}
	w.ui.shortcut(s) // the window's canvas calls it; that of tests has no shortcuts
}

// TestKeysWhereASessionWas: the session whose button has the focus may go away.
func TestKeysWhereASessionWas(t *testing.T) {
	w := open(t, snapshotOf(session("a", adapters.Working, nil), session("b", adapters.Idle, nil)))
	w.ui.host.Focus(w.ui.sessions.list)
	w.key(fyne.KeyDown)
	w.key(fyne.KeyReturn)
	if w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.detail.more) {
		t.Fatal("Enter doesn't lead to the details")
	}
	w.publish(snapshotOf(session("a", adapters.Working, nil)))
	shows(t, w.ui.content, "No longer listed")
	w.key(fyne.KeyReturn)
	for _, b := range []*widgets.Button{w.ui.sessions.detail.stop, w.ui.sessions.detail.resume, w.ui.sessions.detail.more} {
		b.OnTapped()
	}
}

// TestFocusLeavesWithItsPage: what is hidden must not act on keys.
func TestFocusLeavesWithItsPage(t *testing.T) {
	w := open(t, full())
	w.ui.host.Focus(w.ui.sessions.list)
	w.shortcut(fyne.KeyComma)
	w.rune('x')
	w.key(fyne.KeyDown)
	if w.ui.page != pageSettings || w.ui.sessions.filter.Text != "" {
		t.Errorf("page %d shows, and the filter is %q", w.ui.page, w.ui.sessions.filter.Text)
	}
	w.shortcut(fyne.KeyN)
	w.rune('y')
	if w.ui.page != pageLaunch || w.launchPage().prompt.Text != "y" {
		t.Errorf("page %d shows, and the prompt is %q", w.ui.page, w.launchPage().prompt.Text)
	}
	w.shortcut(fyne.Key1)
	if w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.list) {
		t.Error("the list doesn't have the focus")
	}
	// A tab that was reached by keys keeps the focus: Tab goes on from there.
	w.ui.host.Focus(w.ui.nav.usage)
	w.key(fyne.KeyReturn)
	if w.win.Canvas().Focused() != fyne.Focusable(w.ui.nav.usage) {
		t.Error("the tab lost the focus")
	}
}

// TestEscapeClosesEverySheet, whatever in it has the focus.
func TestEscapeClosesEverySheet(t *testing.T) {
	w := open(t, full())
	if _, err := w.ui.options.Fuses.Set(t.Context(), fuse.Fuse{Path: t.TempDir(), Script: "true"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	w.ui.launch.Look()
	w.ui.open(pageLocks)
	w.until("the agents and the timer", func() bool { return w.launchPage().asked() && strings.Contains(w.locksPage(), "Extend…") })
	page := func(button string) func() { return func() { tap(t, w.ui.upkeep.Content, button) } }
	sheets := map[string]func(){
		"resume": func() { w.ui.launch.Resume(full().Sessions()[0]) },
		"lock":   page("Lock a folder…"),
		"timer":  page("Set a timer…"),
		"extend": page("Extend…"),
	}
	for name, show := range sheets {
		show()
		stops := w.tabStops()
		w.ui.host.CloseSheet()
		if len(stops) < 3 {
			t.Errorf("%s: the Tab key stops at %d places only", name, len(stops))
		}
		for i := range stops {
			show()
			at := w.tabStops()[i]
			w.ui.host.Focus(at)
			w.key(fyne.KeyEscape)
			if w.ui.host.Sheet != nil {
				t.Errorf("%s: Escape in a %T doesn't close it", name, at)
				w.ui.host.CloseSheet()
			}
		}
	}
}

// tabStops are what the Tab key reaches, in its order.
func (w *window) tabStops() []fyne.Focusable {
	w.t.Helper()
	var out []fyne.Focusable
	w.win.Canvas().Unfocus()
	for range 100 {
		w.win.Canvas().FocusNext()
		f := w.win.Canvas().Focused()
		if slices.Contains(out, f) {
			return out
		}
		out = append(out, f)
	}
	w.t.Fatal("the Tab key doesn't come round")
	return nil
}

// TestShortcutsWaitForTheSheet: the page below a dialog stays.
func TestShortcutsWaitForTheSheet(t *testing.T) {
	w := open(t, full())
	w.ui.showRename(full().Sessions()[0])
	for _, k := range []fyne.KeyName{fyne.Key2, fyne.Key4, fyne.KeyN, fyne.KeyF} {
		w.shortcut(k)
		if w.ui.page != pageSessions || w.ui.host.Sheet == nil {
			t.Fatalf("Ctrl+%s opened page %d below the dialog", k, w.ui.page)
		}
	}
	w.rune('x')
	if w.ui.sessions.filter.Text != "" {
		t.Error("a letter went to what is below the dialog")
	}
	w.key(fyne.KeyEscape)
	w.shortcut(fyne.KeyComma)
	if w.ui.page != pageSettings {
		t.Error("after the dialog the shortcuts don't work")
	}
}

// TestEveryPageByKeys: the Tab key reaches what a page offers, and comes round.
func TestEveryPageByKeys(t *testing.T) {
	w := open(t, full())
	for page := range w.ui.pages {
		w.ui.open(page)
		w.until("the page", func() bool {
			return (page != pageLaunch || w.launchPage().asked()) && (page != pageLocks || strings.Contains(w.locksPage(), "Locked folders"))
		})
		reached := w.tabStops()
		for _, o := range visible(w.ui.content) {
			if b, ok := o.(*widgets.Button); ok && !b.Disabled() && !slices.Contains(reached, fyne.Focusable(b)) && !inside(w.ui.sessions.filter, b) {
				t.Errorf("page %d: the Tab key doesn't reach %q", page, b.Text)
			}
		}
	}
}

func inside(o fyne.Widget, x fyne.CanvasObject) bool {
	for _, c := range test.WidgetRenderer(o).Objects() {
		if c == x {
			return true
		}
	}
	return false
}
