package ui

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/marks"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/textmatch"
)

// TestPalette: Ctrl+K finds sessions, actions of the selected session, pages and settings by some of their letters; arrows choose and Enter runs.
func TestPalette(t *testing.T) {
	set, _ := settingsWindow(t, "")
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Live: set.ui.options.Live, Marks: marks.In(t.TempDir())})
	w.ui.Show("w1")
	texts := func(query string) []string {
		w.shortcut(fyne.KeyK)
		entry, ok := w.win.Canvas().Focused().(*widgets.Entry)
		if !ok || w.ui.host.Sheet == nil {
			t.Fatalf("%T has the focus", w.win.Canvas().Focused())
		}
		for _, r := range query {
			entry.TypedRune(r)
		}
		var out []string
		for _, o := range visible(w.ui.host.Sheet.Popup) {
			if tab, ok := o.(*widgets.Tab); ok {
				out = append(out, tab.Text())
			}
		}
		return out
	}
	enter := func() { w.press(w.win.Canvas().Focused(), fyne.KeyReturn) }
	first := func(query, want string) {
		t.Helper()
		if got := texts(query); len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Fatalf("%q finds %q, want %q first", query, got, want)
		}
		enter()
		if w.ui.host.Sheet != nil && w.ui.host.Sheet.Popup.Visible() && !strings.Contains(want, "…") {
			t.Errorf("%q: the palette is still open", query)
		}
	}
	first("usag", "Usage")
	if w.ui.page != pageUsage {
		t.Error("it is on another page")
	}
	first("bill rounding", "Currency rounding")
	if w.ui.page != pageSessions || w.ui.sessions.selected.ID != "019a-codex-3" {
		t.Errorf("page %d, session %v", w.ui.page, w.ui.sessions.selected)
	}
	first("lckstm", "Locks & timers")
	if w.ui.page != pageLocks {
		t.Error("it is on another page")
	}
	first("theme", "Theme · Settings")
	if w.ui.page != pageSettings || w.win.Canvas().Focused() == nil {
		t.Errorf("page %d, %T has the focus", w.ui.page, w.win.Canvas().Focused())
	}
	w.ui.Show("w1")
	first("pin", "Pin · Redesign")
	w.until("the mark", func() bool { return isPinned(w.markOf("w1")) })
	first("rena redes", "Rename… · Redesign")
	if w.ui.host.Sheet == nil {
		t.Error("the form is not open")
	}
	w.ui.host.CloseSheet()
	// Without letters: what can be done with the session, then pages; the arrows go round.
	all := texts("")
	if len(all) != mostFound || !strings.Contains(all[0], "Redesign") {
		t.Errorf("without letters: %q", all)
	}
	w.press(w.win.Canvas().Focused(), fyne.KeyUp, fyne.KeyDown, fyne.KeyDown)
	shows(t, w.ui.host.Sheet.Popup, "Up and Down choose")
	w.shoot("palette")
	w.ui.host.CloseSheet()
	if got := texts("qqqxyz"); len(got) != 0 {
		t.Errorf("%q", got)
	}
	shows(t, w.ui.host.Sheet.Popup, "Nothing has “qqqxyz”")
	enter()
	w.shoot("palette-nothing")
	w.press(w.win.Canvas().Focused(), fyne.KeyEscape)
	if w.ui.host.Sheet != nil {
		t.Error("Esc does not close it")
	}
}

// TestPaletteAnswersNothing: no entry of the palette answers a request, or shows the terminal in which one waits.
func TestPaletteAnswersNothing(t *testing.T) {
	w := openQueue(t, newAsker(command("a", "1", "git status", 0)), waiters(map[string]int{"a": 1}))
	w.armed("git status")
	for _, c := range w.ui.commands() {
		for _, word := range []string{"Allow", "Deny", "Show terminal"} {
			if strings.HasPrefix(c.text, word) {
				t.Errorf("it has %q", c.text)
			}
		}
	}
}

// TestRank: a word in a row at the beginning of a word comes before one within a word, and this before letters in their order.
func TestRank(t *testing.T) {
	list := []string{"Show only group", "Clean up…", "Usage", "Group by project", "Massage"}
	for query, want := range map[string][]string{
		"group": {"Group by project", "Show only group"}, "usage": {"Usage"}, "sag": {"Usage", "Massage"}, "gbp": {"Group by project"},
		"up cl": {"Clean up…"}, "ß": nil, "": list,
	} {
		got := slices.DeleteFunc(slices.Clone(list), func(s string) bool { _, ok := textmatch.Rank(s, query); return !ok })
		slices.SortStableFunc(got, func(x, y string) int {
			a, _ := textmatch.Rank(x, query)
			b, _ := textmatch.Rank(y, query)
			return b - a
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// TestMarkKeys: Alt with a letter pins, hides, snoozes and mutes the selected session, as the menu does; in a field the letters are text.
func TestMarkKeys(t *testing.T) {
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Marks: marks.In(t.TempDir())})
	w.ui.Show("w1")
	w.ui.host.Focus(w.ui.sessions.filter)
	if w.ui.shortcut(altKey(pinKey)) {
		t.Error("a key pins while the user types")
	}
	w.ui.focusPage()
	for key, is := range map[fyne.KeyName]func(app.Mark) bool{
		pinKey: isPinned, muteKey: func(m app.Mark) bool { return m.Muted }, hideKey: func(m app.Mark) bool { return m.Hidden },
		snoozeKey: func(m app.Mark) bool { return !m.Snooze.Until.IsZero() },
	} {
		if !w.ui.shortcut(altKey(key)) {
			t.Errorf("Alt+%s does nothing", key)
		}
		w.until("the mark of Alt+"+string(key), func() bool { return is(w.markOf("w1")) })
	}
	if s := full().Own[2]; s.Status != adapters.Working || s.ID != "w1" {
		t.Fatal("another session is marked")
	}
	all := ""
	for _, k := range shortcuts {
		all += k[0] + "\n"
	}
	for _, key := range []string{"Ctrl+K", "Alt+P, H, S, M", "Alt+Left"} {
		if !strings.Contains(all, key) {
			t.Errorf("the dialog lacks %s", key)
		}
	}
}

func isPinned(m app.Mark) bool { return m.Pinned }

// markOf returns the user's marks of a session of Claude Code.
func (w *window) markOf(id string) app.Mark {
	all, _ := w.ui.options.Marks.Of(agentname.ClaudeCode)
	return all[id]
}
