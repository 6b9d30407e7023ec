package ui

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
	"rollcall/internal/must"
)

// TestFocusOfEveryPage: the shortcut of a page gives the focus to its main widget, also if Fyne has never drawn the page, or not in the last minute; so does a
// click in the sidebar, after which typed text is in the field.
func TestFocusOfEveryPage(t *testing.T) {
	w := open(t, full())
	keys := map[int]fyne.KeyName{pageSessions: fyne.Key1, pageLaunch: fyne.KeyN, pageSearch: fyne.Key5}
	for _, page := range []int{pageSearch, pageLaunch, pageSessions, pageSearch, pageSessions} {
		w.shortcut(keys[page])
		want := w.ui.pages[page].focus()
		if got := w.win.Canvas().Focused(); want == nil || got != want {
			t.Errorf("page %d: the focus is on %T, want %T", page, got, want)
		}
	}
	click := func(b fyne.Tappable) { // as the window's driver does
		w.win.Canvas().Focus(b.(fyne.Focusable))
		test.Tap(b)
	}
	click(w.ui.nav.search)
	w.rune('x')
	if w.ui.search.entry.Text != "x" {
		t.Errorf("after a click on Search the focus is on %T", w.win.Canvas().Focused())
	}
	click(w.ui.nav.launch)
	w.rune('y')
	if w.launchPage().prompt.Text != "y" {
		t.Errorf("after a click on New agent the focus is on %T", w.win.Canvas().Focused())
	}
}

// TestShortcutsOfTheSidebar: Ctrl+0 to Ctrl+6 open its entries in their order, and a filter leaves their numbers.
func TestShortcutsOfTheSidebar(t *testing.T) {
	w := open(t, full())
	before := w.ui.sessions.view.Counts
	w.filter("flaky")
	if after := w.ui.sessions.view.Counts; after != before {
		t.Errorf("a filter changes the counts from %v to %v", before, after)
	}
	w.filter("")
	for i, name := range []fyne.KeyName{fyne.Key0, fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6} {
		w.shortcut(name)
		page := max(pageSessions, map[int]int{5: pageSearch, 6: pageUsage}[i])
		if w.ui.page != page || i < len(listing.Scopes) && w.ui.scope != listing.Scopes[i] {
			t.Errorf("Ctrl+%s opens page %d with the scope %d", name, w.ui.page, w.ui.scope)
		}
	}
}

// TestFocusOfWhatIsGone: what the window does not show gets no focus, and nothing else keeps it.
func TestFocusOfWhatIsGone(t *testing.T) {
	w := open(t, full())
	w.ui.host.Focus(w.ui.sessions.list)
	w.ui.host.Focus(w.ui.host.NewButton("Nowhere", nil, nil))
	if f := w.win.Canvas().Focused(); f != nil {
		t.Errorf("the focus is on %T", f)
	}
}

// TestOneFunctionSetsTheFocus: only Host.Focus does, which looks whether the window shows the widget.
func TestOneFunctionSetsTheFocus(t *testing.T) {
	for _, dir := range []string{".", "widgets"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must.Do(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must.Do(t, err)
			if n := strings.Count(string(text), "anvas().Focus(") + strings.Count(string(text), "\tc.Focus(o)"); n > 0 && !strings.HasSuffix(file, "_test.go") && file != filepath.Join("widgets", "host.go") {
				t.Errorf("%s sets the focus by itself", file)
			}
		}
	}
}

// TestPricesCountAtOnce: prices that the user enters count on the page that is shown, and a sum without most of its parts is none.
func TestPricesCountAtOnce(t *testing.T) {
	w, path := settingsWindow(t, "")
	snap := usageSnapshot()
	for s := range snap.All() {
		s.Model = "mock-1"
	}
	w.ui.history = func(context.Context, time.Time) *app.Snapshot { return snap }
	w.ui.open(pageUsage)
	w.usageSays("Cost, 90 of 400")
	cost := func() string { // below its name
		texts := shownTexts(w.ui.usage.Content)
		return texts[slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, "Cost") })+1]
	}
	if got := cost(); got != "–" {
		t.Errorf("the sum of less than half of the costs is %q", got)
	}
	w.shoot("prices-none")
	must.Do(t, os.WriteFile(path, []byte("[prices.mock-1]\ninput = 1.0\noutput = 5.0\n"), 0o600))
	w.ui.options.Live.Read()
	w.until("the cost", func() bool { return strings.HasPrefix(cost(), "$") })
	w.shoot("prices-entered")
}

var _ fyne.Tappable = (*widgets.Tab)(nil)
