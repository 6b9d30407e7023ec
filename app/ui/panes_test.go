package ui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/listing"
)

// shownPanes reports which of the two panes of the sessions page the window shows.
func (w *window) shownPanes() (list, detail bool) {
	all := visible(w.ui.content)
	return slices.Contains(all, fyne.CanvasObject(w.ui.sessions.left)), slices.Contains(all, fyne.CanvasObject(w.ui.sessions.detail.content))
}

// TestNarrowShowsOnePane: below 720 units the window shows the list or the details. A click and Enter open the details; Esc, Alt+Left and the button go back.
func TestNarrowShowsOnePane(t *testing.T) {
	w := open(t, full())
	wants := func(what string, list, detail bool) {
		t.Helper()
		if l, d := w.shownPanes(); l != list || d != detail {
			t.Errorf("%s: the list is shown: %t, the details: %t", what, l, d)
		}
	}
	wants("a wide window", true, true)
	for _, size := range []fyne.Size{{Width: 719, Height: 500}, {Width: 420, Height: 600}} {
		w.win.Resize(size)
		wants("narrow", true, false)
		w.ui.focusSearch()
		if w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.filter) || w.ui.conversation() != nil {
			t.Errorf("Ctrl+F in the list gives %T the focus", w.win.Canvas().Focused())
		}
		w.shoot(fmt.Sprintf("narrow-list-%.0f", size.Width))
		w.ui.sessions.tapped(1)
		wants("after a click", false, true)
		w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
		wants("after Esc", true, false)
		if w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.list) {
			t.Errorf("after Esc %T has the focus", w.win.Canvas().Focused())
		}
		w.press(w.ui.sessions.list, fyne.KeyDown)
		wants("after an arrow", true, false)
		w.press(w.ui.sessions.list, fyne.KeyReturn)
		wants("after Enter", false, true)
		w.ui.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyLeft, Modifier: fyne.KeyModifierAlt})
		wants("after Alt+Left", true, false)
		w.ui.Show("w1")
		wants("a session that was asked for", false, true)
		tap(t, w.ui.content, "Back")
		wants("after the button", true, false)
	}
	w.ui.sessions.tapped(1)
	w.win.Resize(fyne.NewSize(720, 500))
	wants("720 units", true, true)
	if list, detail := w.ui.sessions.left.Size(), w.ui.sessions.detail.content.Size(); list.Width > 400 || detail.Width > 500 || detail.Height < 490 {
		t.Errorf("at 720 units the list is %v, the details are %v", list, detail)
	}
	w.win.Resize(fyne.NewSize(700, 500))
	wants("narrow again, in the details", false, true)
	w.ui.showScope(listing.ScopeOf(listing.Stopped))
	wants("another list", true, false)
}

// TestNarrowListAnswersNothing: in a narrow window keys answer only a request that is shown, and has been for a moment.
func TestNarrowListAnswersNothing(t *testing.T) {
	a := newAsker(command("a", "1", "git status", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	w.armed("git status")
	w.win.Resize(fyne.NewSize(420, 600))
	if list, detail := w.shownPanes(); !list || detail {
		w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	}
	key := func(r rune) {
		w.ui.sessions.list.TypedRune(r)
		w.ui.sessions.keys.KeyUp(&fyne.KeyEvent{Name: fyne.KeyA})
	}
	for _, r := range "aydAYD1" {
		key(r)
	}
	w.until("what the keys did", func() bool { return true })
	if got := a.got(); len(got) > 0 || w.ui.isAnswering(w.ui.sessions.ref) {
		t.Fatalf("answered unseen: %v", got)
	}
	var after []func()
	w.ui.after = func(d time.Duration, f func()) {
		if d != answer.VisibleFor {
			t.Errorf("armed after %v", d)
		}
		after = append(after, f)
	}
	w.ui.sessions.tapped(0)
	if w.ui.sessions.detail.request.isReady() || len(after) == 0 {
		t.Error("it can be answered as soon as it is shown")
	}
	for _, f := range after {
		f()
	}
	w.until("the request", w.ui.sessions.detail.request.isReady)
}

// TestNarrowRequestLeavesConversation: at 420×600 and 700×500 the last message can be read below a request.
func TestNarrowRequestLeavesConversation(t *testing.T) {
	text := "git push --force origin main && npm publish --tag latest --access public"
	a := newAsker(command("a", "1", text, time.Minute))
	for _, size := range []fyne.Size{{Width: 420, Height: 600}, {Width: 700, Height: 500}} {
		w := openQueue(t, a, waiters(map[string]int{"a": 1}))
		w.armed(text)
		w.core.say("a", from(adapters.FromUser, "m1", "Publish the release, please.", time.Hour), from(adapters.FromAgent, "m2", "The tests pass. I publish it now.", time.Minute))
		w.win.Resize(size)
		w.ui.sessions.tapped(0)
		w.until("the conversation", func() bool { return len(w.ui.sessions.detail.conversation.views) > 0 })
		w.shoot(fmt.Sprintf("narrow-request-%.0f", size.Width))
		scroll := w.ui.sessions.detail.conversation.scroll
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject
		top := at(w.ui.sessions.detail.conversation.title).Y
		if left := at(scroll).Y + scroll.Size().Height - top; left < 100 {
			t.Errorf("%v: %g units are left to the conversation", size, left)
		}
	}
}

// TestProjectBeforeStatus: where a row is too narrow for both, the project and the branch come before the words of the status.
func TestProjectBeforeStatus(t *testing.T) {
	s := session("a", adapters.Waiting, func(s *adapters.Session) {
		s.CWD, s.Branch, s.WaitingFor, s.Title = "/home/dev/webshop", "feature/checkout", adapters.ForPermission, "x"
	})
	asks := answer.AsksOf(&s, nil)
	asks.Words = "wants to run a command that is long"
	row := newRowView()
	row.set(rowOf(&s), sessionText(&s, &asks, false, clock), false, false)
	test.WidgetRenderer(row)
	drawn := func(i int) string {
		line := []fyne.Widget{row.first, row.status}[i]
		if !line.Visible() {
			return ""
		}
		return test.WidgetRenderer(line).Objects()[0].(*canvas.Text).Text
	}
	for _, width := range []float32{260, 290, 420} {
		row.Resize(fyne.NewSize(width, rowHeight))
		if got := drawn(0); got != "webshop · feature/checkout" {
			t.Errorf("%g: %q, with the status %q", width, got, drawn(1))
		}
	}
	if drawn(1) == "" {
		t.Error("a wide row has no status")
	}
}

// TestAccountsAreToldApart: two sessions that differ by their account alone differ in the list, in the narrowest row too, and in the details.
func TestAccountsAreToldApart(t *testing.T) {
	of := func(account string) (row, detail string) {
		s := session("a", adapters.Waiting, func(s *adapters.Session) { s.WaitingFor = adapters.ForPermission })
		s.Account = account
		asks := answer.AsksOf(&s, nil)
		asks.Text = "npm publish --tag latest --access public"
		v := newRowView()
		v.set(rowOf(&s), sessionText(&s, &asks, false, clock), false, false)
		test.WidgetRenderer(v)
		v.Resize(fyne.NewSize(240, rowHeight))
		return test.WidgetRenderer(v.second).Objects()[0].(*canvas.Text).Text, describe.Subtitle(&s, clock)
	}
	row1, detail1 := of("work")
	row2, detail2 := of("home")
	if row1 == row2 || detail1 == detail2 {
		t.Errorf("rows %q, %q; details %q, %q", row1, row2, detail1, detail2)
	}
}

func rowOf(s *app.Session) listing.Row {
	return listing.Row{Kind: listing.SessionRow, Session: s, Key: listing.Key{Agent: s.Agent, ID: s.ID}}
}

// TestRequestBeforeUsage: a wide row of a session that waits leaves out its usage where what is asked needs the room.
func TestRequestBeforeUsage(t *testing.T) {
	for text, want := range map[string]bool{"git status": true, "git push --force origin main && npm publish --tag latest --access public": false} {
		s := full().Own[0]
		asks := answer.AsksOf(&s, nil)
		asks.Text = text
		v := newRowView()
		v.set(rowOf(&s), sessionText(&s, &asks, false, clock), false, false)
		test.WidgetRenderer(v)
		v.Resize(fyne.NewSize(560, rowHeight))
		if got := v.usage.Visible(); got != want {
			t.Errorf("%q: the usage is shown: %t", text, got)
		}
	}
}
