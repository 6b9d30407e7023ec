package ui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
	"rollcall/internal/uitest"
)

// tabTo presses the Tab key until a widget has the focus.
func (w *window) tabTo(what string, want fyne.Focusable) {
	w.t.Helper()
	for range 100 {
		if w.win.Canvas().Focused() == want {
			return
		}
		w.win.Canvas().FocusNext()
	}
	w.t.Fatalf("the Tab key doesn't reach %s", what)
}

// TestKeyboardWalk: without a mouse the user finds what waits, reads it, denies it with a reason, sends a prompt, reaches the stop, chooses a
// worktree for a launch, reaches the search, the usage and a setting.
func TestKeyboardWalk(t *testing.T) {
	long := strings.Repeat("echo one of many lines; ", 200) + "rm -rf src"
	a := newAsker(command("a", "1", long, 3*time.Minute))
	snap := waiters(map[string]int{"a": 3})
	snap.Own = append(snap.Own, session("idle", adapters.Idle, nil))
	w := openQueue(t, a, snap)
	w.ui.showScope(listing.AllGroups)
	w.shortcut(fyne.Key0)
	w.armed(long)
	w.win.Canvas().Capture()
	if f := w.win.Canvas().Focused(); f != fyne.Focusable(w.ui.sessions.list) {
		t.Fatalf("the focus is on %T", f)
	}
	v := w.ui.sessions.detail.request
	w.key(fyne.KeyPageDown)
	w.key(fyne.KeyEnd)
	if !v.code.IsEndSeen() {
		t.Error("the keys don't lead to the end of the request")
	}
	w.deny("use git clean")
	w.until("the denial", func() bool { return slices.Equal(a.got(), []string{"a 1 deny use git clean[]"}) })
	w.publish(snapshotOf(session("idle", adapters.Idle, nil)))

	w.shortcut(fyne.Key1)
	w.ui.focusPage()
	w.key(fyne.KeyHome)
	w.key(fyne.KeyReturn)
	for _, r := range "go on" {
		w.rune(r)
	}
	w.key(fyne.KeyReturn)
	w.until("the prompt", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return slices.Equal(a.prompts, []string{"send idle go on"})
	})
	w.tabTo("the menu of the session", w.ui.sessions.detail.more)
	w.tabTo("the stop", w.ui.sessions.detail.stop)

	w.shortcut(fyne.KeyN)
	w.until("the agents", w.launchPage().asked)
	w.tabTo("the prompt", w.launchPage().prompt)
	w.tabTo("the worktree", w.launchPage().apart)
	w.rune(' ')
	if !w.launchPage().apart.Checked {
		t.Error("the Space key does not choose the worktree")
	}
	w.shortcut(fyne.Key5)
	w.tabTo("the search", w.ui.search.entry)
	w.shortcut(fyne.Key6)
	w.tabTo("the period", uitest.Select(t, w.ui.usage.Content, "Last 7 days"))
	w.shortcut(fyne.KeyComma)
	if w.ui.page != pageSettings {
		t.Errorf("page %d", w.ui.page)
	}

}

// TestSelectByKey: the arrow keys change a setting and stop at its first and last value; Space and Enter open the list at the value that is set,
// Enter chooses, Escape leaves it as it was, and the field has the focus again.
func TestSelectByKey(t *testing.T) {
	w, path := settingsWindow(t, "")
	w.shortcut(fyne.KeyComma)
	var theme *widgets.Select
	w.until("the fields", func() bool {
		for _, o := range visible(w.ui.settings.Content) {
			if s, ok := o.(*widgets.Select); ok && s.Selected == "Same as the desktop" {
				theme = s
			}
		}
		return theme != nil
	})
	w.tabTo("the theme", theme)
	for i, step := range []struct {
		keys []fyne.KeyName
		want string
	}{
		{[]fyne.KeyName{fyne.KeyUp}, ""},
		{[]fyne.KeyName{fyne.KeyDown}, "theme = \"light\"\n"},
		{[]fyne.KeyName{fyne.KeyDown, fyne.KeyDown}, "theme = \"dark\"\n"},
		{[]fyne.KeyName{fyne.KeySpace, fyne.KeyUp, fyne.KeyReturn}, "theme = \"light\"\n"},
		{[]fyne.KeyName{fyne.KeyReturn, fyne.KeyDown, fyne.KeyEscape}, "theme = \"light\"\n"},
		{[]fyne.KeyName{fyne.KeyReturn, fyne.KeyReturn}, "theme = \"light\"\n"},
		{[]fyne.KeyName{fyne.KeyUp}, "theme = \"desktop\"\n"},
	} {
		for _, k := range step.keys {
			w.key(k)
		}
		if f := w.win.Canvas().Focused(); f != fyne.Focusable(theme) {
			t.Fatalf("step %d: the focus is on %T", i, f)
		}
		w.until(fmt.Sprintf("the file after step %d, %q", i, step.want), func() bool {
			text, _ := os.ReadFile(path)
			return string(text) == step.want
		})
	}
}
