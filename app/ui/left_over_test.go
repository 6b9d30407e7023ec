package ui

import (
	"context"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app/control/show"
	"rollcall/internal/agentname"
)

// questions is a request with a field and boxes, which "Send answers" answers.
func questions(session string) adapters.Request {
	return adapters.Request{Agent: agentname.ClaudeCode, Session: session, ID: "q", Kind: adapters.AsksQuestion, Text: "Which colours?", AskedAt: ago(time.Minute), Where: "the agent",
		Questions: []adapters.Question{{Text: "Which colours?", Several: true, FreeText: true, Options: []adapters.Option{{Label: "Red"}, {Label: "Blue"}}}}}
}

// TestDetailKeepsNoQuestion: the details of a session that asks nothing have no button of the one that was shown before.
func TestDetailKeepsNoQuestion(t *testing.T) {
	asks := session("asks", adapters.Waiting, nil)
	w := openQueue(t, newAsker(questions("asks")), snapshotOf(asks, session("idle", adapters.Idle, nil)))
	w.armed("Which colours?")
	d := w.ui.sessions.detail
	shows(t, d.content, "Send answers", "Red")
	w.ui.Show("idle")
	for _, text := range []string{"Send answers", "Red", "Which colours?", "Allow once", "Deny"} {
		if slices.Contains(shownTexts(d.content), text) {
			t.Errorf("a session that asks nothing has %q", text)
		}
	}
}

// TestMessageTakesNoAnswer: a request that the details showed can't be answered once a message is in its place.
func TestMessageTakesNoAnswer(t *testing.T) {
	a := newAsker(command("asks", "1", "git push", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"asks": 1}))
	w.armed("git push")
	d := w.ui.sessions.detail
	d.showMessage("Nothing selected", selectHint)
	test.Tap(d.request.deny)
	if d.request.has || d.request.isReady() || d.request.denying {
		t.Error("a request that is not shown can be answered")
	}
}

// TestNoteOfComposerGoes: why a session takes no prompt is not said any more when it takes one.
func TestNoteOfComposerGoes(t *testing.T) {
	w := openQueue(t, newAsker(), snapshotOf(session("s", adapters.Idle, func(s *adapters.Session) { s.Suspended = true })))
	w.ui.Show("s")
	c := w.ui.sessions.detail.composer
	if c.field.Visible() || c.note.Text() == "" {
		t.Fatalf("a session whose process is paused takes a prompt: %q", c.note.Text())
	}
	w.publish(snapshotOf(session("s", adapters.Idle, nil)))
	if !c.field.Visible() || c.note.Text() != "" {
		t.Errorf("with a field: %v, the note says %q", c.field.Visible(), c.note.Text())
	}
	c.say("The session has the prompt.", "")
	w.publish(snapshotOf(session("s", adapters.Working, nil)))
	if c.note.Text() != "The session has the prompt." {
		t.Errorf("how the prompt ended goes: %q", c.note.Text())
	}
}

// TestTerminalOfAnother: when the terminal of a session has been shown, the button of the session that is selected by now stays as it is.
func TestTerminalOfAnother(t *testing.T) {
	wait := make(chan struct{})
	f := &slowShower{fakeShower: fakeShower{plan: show.Plan{Seen: true}}, wait: wait}
	remote := session("remote", adapters.Idle, func(s *adapters.Session) { s.Remote = "gateway" })
	w := openWith(t, &fakeCore{snapshot: snapshotOf(session("here-here-here", adapters.Idle, nil), remote)}, Options{Agents: usualAgents(), Shower: f})
	w.ui.Show("here-here-here")
	d := w.ui.sessions.detail
	tap(t, d.content, "Show terminal")
	w.ui.Show("remote")
	close(wait)
	w.until("the end", func() bool { return !d.showing })
	if !d.terminal.Disabled() {
		t.Error("a session of a gateway has a terminal to show")
	}
}

// TestResultStaysBehind: how an answer ended is not shown in the details of a session that the user goes to by a link, a search or the palette.
func TestResultStaysBehind(t *testing.T) {
	a := newAsker(command("asks", "1", "git push", time.Minute))
	w := openQueue(t, a, snapshotOf(session("asks", adapters.Waiting, nil), session("idle", adapters.Idle, nil)))
	w.ui.Show("asks")
	d := w.ui.sessions.detail
	w.armed("git push")
	w.ui.sessions.showResult("done", "", "Claude Code in asks: denied")
	shows(t, d.content, "Claude Code in asks: denied")
	w.ui.Show("idle")
	if slices.Contains(shownTexts(d.content), "Claude Code in asks: denied") {
		t.Error("the answer to another session stays")
	}
}

// slowShower shows a terminal when wait is closed.
type slowShower struct {
	fakeShower
	wait chan struct{}
}

// Show implements Shower.
func (f *slowShower) Show(ctx context.Context, agent adapters.Name, id string) (*show.Plan, error) {
	<-f.wait
	return f.fakeShower.Show(ctx, agent, id)
}
