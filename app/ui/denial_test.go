package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/control/answer"
	"rollcall/app/control/show"
	"rollcall/app/settings"
)

// TestDenialAsksWhy: where the agent takes a message, D denies nothing yet, but offers a line for it; Escape leaves it, Enter sends the denial, and what has
// happened is said. Where it takes none, D denies.
func TestDenialAsksWhy(t *testing.T) {
	plain := command("plain", "3", "make", time.Minute)
	plain.CanExplain = false
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "git push", 2*time.Minute), plain)
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 2, "plain": 1}))
	v := w.ui.sessions.detail.request
	w.armed("ls")
	if v.message.Visible() {
		t.Error("the line is shown before D")
	}
	w.rune('d')
	w.shoot("denial-why")
	if got := a.got(); len(got) != 0 || !v.message.Visible() {
		t.Fatalf("D alone: %q", got)
	}
	shows(t, w.ui.content, "Send the denial (Enter)")
	w.key(fyne.KeyEscape)
	if v.message.Visible() || w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.list) {
		t.Error("Escape doesn't lead back")
	}
	w.deny("use the Makefile")
	w.armed("git push")
	shows(t, w.ui.content, "Claude Code in a: denied, with your message; it goes on")
	w.shoot("denial-sent")
	w.deny("")
	w.armed("make")
	w.rune('d')
	w.until("the end", func() bool { return len(w.ui.asking.asked) == 0 })
	if got, want := a.got(), []string{"a 1 deny use the Makefile[]", "b 2 deny []", "plain 3 deny []"}; !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestReasonGoesWithItsRequest: the line for a message leaves with the request, and what is typed then answers nothing.
func TestReasonGoesWithItsRequest(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3}))
	w.armed("ls")
	w.rune('d')
	w.rune('n')
	a.set("a", command("a", "2", "rm -rf src", time.Minute))
	v := w.ui.sessions.detail.request
	w.until("the other request", func() bool { return v.has && v.item.Request.Text == "rm -rf src" })
	if v.denying || v.message.Text != "" || w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.list) {
		t.Errorf("the line stays with %q, the focus is on %T", v.message.Text, w.win.Canvas().Focused())
	}
	w.key(fyne.KeyReturn)
	w.key(fyne.KeyReturn)
	if got := a.got(); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
}

// TestNextRequestWaits: after an answer the next request takes none until it has been visible for answer.VisibleFor, however often a key is pressed.
func TestNextRequestWaits(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "rm -rf src", 2*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 2}))
	w.armed("ls")
	type timer struct {
		after time.Duration
		fire  func()
	}
	var timers []timer // an injected clock
	w.ui.after = func(d time.Duration, f func()) { timers = append(timers, timer{d, f}) }
	w.deny("")
	v := w.ui.sessions.detail.request
	w.until("the next", func() bool { return v.has && v.item.Request.Text == "rm -rf src" && len(timers) > 0 })
	for range 3 {
		w.rune('a')
		w.rune('d')
		w.rune('y')
		w.key(fyne.KeyReturn)
		w.ui.host.Focus(w.ui.sessions.list)
	}
	if v.armed || v.sure || v.denying || len(a.got()) != 1 {
		t.Fatalf("armed %v, the agent got %q", v.armed, a.got())
	}
	for i, at := range timers {
		if at.after != 700*time.Millisecond {
			t.Errorf("it can be answered after %s", at.after)
		}
		at.fire()
		w.until("the timer", func() bool { return true })
		if last := i == len(timers)-1; v.armed != last {
			t.Errorf("timer %d of %d: armed %v", i, len(timers), v.armed)
		}
	}
	w.rune('a')
	if !v.sure {
		t.Error("A does nothing then")
	}
}

// TestEnterOpensNoTerminal: where a request waits, no number of Enters shows or opens a terminal, in which Enter would answer it.
func TestEnterOpensNoTerminal(t *testing.T) {
	for _, seen := range []bool{true, false} {
		a := newAsker(command("a-session-1", "1", "rm -rf src", time.Minute))
		a.As = "claude-code"
		snap := waiters(map[string]int{"a-session-1": 1})
		f := &fakeShower{}
		f.plan = show.Plan{Session: snap.Own[0], Seen: seen, Note: "it runs in tmux, and no terminal is attached to it", Offers: []show.Offer{{Kind: show.OfferAttach, Text: "attach a terminal to it", Command: []string{"tmux", "attach-session"}}}}
		answers := answer.New(a, func() settings.Answering { return settings.AnswerAll })
		w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: []adapters.Adapter{a}, Answers: answers, Shower: f})
		w.ui.ShowRequest("")
		w.armed("rm -rf src")
		w.ui.focusPage()
		d := w.ui.sessions.detail
		enters := func() {
			for range 6 {
				w.key(fyne.KeyReturn)
				w.until("what is posted", func() bool { return true })
			}
			if o := w.win.Canvas().Overlays().Top(); o != nil && w.ui.host.Sheet == nil {
				w.win.Canvas().Overlays().Remove(o)
			}
		}
		enters()
		w.ui.host.Focus(d.terminal)
		enters()
		if f.called() != "" {
			t.Fatalf("Enter led to %q", f.called())
		}
		shows(t, w.ui.content, spaceShows)
		w.shoot("enter-no-terminal")
		w.key(fyne.KeySpace)
		if seen {
			w.until("the note", func() bool {
				return strings.Contains(w.ui.sessions.outcome, "The terminal was raised, and a request waits in it.")
			})
			continue
		}
		w.until("the sheet", func() bool { return w.ui.host.Sheet != nil })
		w.shoot("enter-no-terminal-sheet")
		shows(t, w.ui.host.Sheet.Popup, spaceShows)
		w.key(fyne.KeyReturn) // Close has the focus
		if strings.Contains(f.called(), "attach") || w.ui.host.Sheet != nil {
			t.Errorf("Enter led to %q", f.called())
		}
	}
}
