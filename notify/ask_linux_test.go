package notify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/control/risk"
	"rollcall/internal/agentname"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/notify"
)

// board has what sessions ask, in memory.
type board struct {
	mu    sync.Mutex
	asked map[string][]answer.Request
}

func (b *board) Of(agent adapters.Name, id string) (answer.Entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, ok := b.asked[id]
	e := answer.Entry{Read: true}
	e.Session, e.Requests = one(id, adapters.Waiting, 1), list
	e.Session.Agent = agent
	return e, ok
}

func (b *board) Await(context.Context, *app.Session) {}

func (b *board) set(id string, texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked[id] = nil
	for _, text := range texts {
		r := adapters.Request{Agent: agentname.ClaudeCode, Session: id, ID: "1", Kind: adapters.AsksCommand, Text: text, Folder: "/w/" + id, CanAllow: true, CanDeny: true}
		oneKey := text != "git push" && text != "./deploy" && risk.Dangers(&r, r.Folder) == nil
		b.asked[id] = append(b.asked[id], answer.Request{Request: r, Key: r.Key(), Dangers: risk.Dangers(&r, r.Folder), OneKey: oneKey})
	}
}

// answers records what is answered.
type answers struct {
	mu   sync.Mutex
	list []string
	err  error
}

func (a *answers) answer(_ context.Context, ref answer.Ref, d adapters.Decision) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, fmt.Sprint(ref.Session, " ", ref.Key, " ", d.Verdict))
	return a.err
}

func (a *answers) got() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// askingRig is a notifier whose sessions ask something.
type askingRig struct {
	*rig
	server  *fake
	board   *board
	answers *answers
	shows   chan string
	changed chan struct{}
}

func startAsking(t *testing.T) *askingRig {
	t.Helper()
	d := desktoptest.For(t, desktoptest.Options{})
	a := &askingRig{server: &fake{caps: []string{"body", "body-markup", "actions"}}, board: &board{asked: map[string][]answer.Request{}}, answers: &answers{},
		shows: make(chan string, 10), changed: make(chan struct{}, 1)}
	a.server.serve(t, d)
	a.rig = startOn(t, d, notify.Options{Board: a.board, Answer: a.answers.answer, OpenRequest: func(id string) { a.shows <- id }, Changed: a.changed,
		Rules: func() notify.Rules { return notify.Rules{AwayAfter: -1, Together: time.Minute} }})
	return a
}

// last returns the notification that is the n-th, and its key.
func (a *askingRig) last(t *testing.T, n int) (desktoptest.Notification, string) {
	t.Helper()
	got := shown(a.wait(t, fmt.Sprint("notification ", n), answered(n)))[n-1]
	key := ""
	for _, action := range got.Actions {
		if _, k, ok := strings.Cut(action, ":"); ok {
			key = k
		}
	}
	return got, key
}

// TestAnswerFromANotification: the notification shows the request, and its buttons answer exactly that.
func TestAnswerFromANotification(t *testing.T) {
	a := startAsking(t)
	a.board.set("a", "git commit -m '<b> & c'")
	a.events.put(becomes("a", adapters.Working, adapters.Waiting))
	n, key := a.last(t, 1)
	if n.Summary != "Claude Code wants to run a command in a" || n.Body != "git commit -m '&lt;b&gt; &amp; c'\nin /w/a" {
		t.Errorf("said %q, %q", n.Summary, n.Body)
	}
	if want := []string{"default", "Open", "allow:" + key, "Allow once", "deny:" + key, "Deny"}; len(key) != 26 || !slices.Equal(n.Actions, want) {
		t.Errorf("actions %q", n.Actions)
	}
	a.settled(t)
	a.server.click(t, n.ID, "default")
	a.server.click(t, n.ID, "default")
	for range 2 {
		if id := <-a.shows; id != "a" {
			t.Errorf("shows %q", id)
		}
	}
	time.Sleep(answer.VisibleFor)
	a.server.click(t, n.ID, "deny:"+key)
	eventually.True(t, "the denial", func() bool { return len(a.answers.got()) == 1 })
	a.server.click(t, n.ID, "allow:"+key)
	eventually.True(t, "the answer", func() bool { return len(a.answers.got()) == 2 })
	if got := a.answers.got(); got[0] != "a "+key+" deny" || got[1] != "a "+key+" allow" {
		t.Errorf("answered %q", got)
	}
}

// TestStaleNotification: a button of a request that was replaced, was refused or is of an earlier run answers nothing, and
// the user is told why.
func TestStaleNotification(t *testing.T) {
	a := startAsking(t)
	a.board.set("a", "ls")
	a.events.put(becomes("a", adapters.Working, adapters.Waiting))
	n, key := a.last(t, 1)
	a.board.set("a", "make")
	a.changed <- struct{}{}
	again, newKey := a.last(t, 2)
	if again.ID != n.ID || newKey == key || !strings.HasPrefix(again.Body, "make") {
		t.Fatalf("%+v does not replace %+v", again, n)
	}
	a.settled(t)
	a.server.click(t, n.ID, "allow:"+strings.Repeat("x", 26))
	told, _ := a.last(t, 3)
	if told.Summary != "Nothing was answered" || !strings.Contains(told.Body, "from an earlier run of Rollcall") || len(a.answers.got()) != 0 {
		t.Errorf("told %+v, answered %q", told, a.answers.got())
	}
	a.answers.mu.Lock()
	a.answers.err = fmt.Errorf("%w: another request waits now", adapters.ErrRequestChanged)
	a.answers.mu.Unlock()
	time.Sleep(answer.VisibleFor)
	a.server.click(t, n.ID, "allow:"+key)
	told, _ = a.last(t, 4)
	if told.Body != "nothing was answered: the request has changed: another request waits now" {
		t.Errorf("told %+v", told)
	}
	if got := a.answers.got(); len(got) != 1 || got[0] != "a "+key+" allow" {
		t.Errorf("answered %q: a button answers what its notification showed", got)
	}
	a.settled(t)
	a.server.click(t, told.ID, "default")
	if id := <-a.shows; id != "a" {
		t.Errorf("shows %q", id)
	}
}

// TestNotAllowedFromANotification: what looks dangerous, or is not wholly visible, can be denied there and not allowed.
func TestNotAllowedFromANotification(t *testing.T) {
	for name, c := range map[string]struct{ text, body string }{
		"dangerous": {"rm -rf src", "⚠ Looks dangerous: deletes folders with all they contain\nrm -rf src\nin /w/a"},
		"ordinary":  {"git push", "git push\nin /w/a"},
		"unknown":   {"./deploy", "./deploy\nin /w/a"},
		"long":      {strings.Repeat("echo hello; ", 30), "(cut: 360 B; open it to read all)"},
		"lines":     {"ls\npwd", "ls⏎ pwd\nin /w/a"},
		"hidden":    {"ls \u202egnp", "ls &lt;U+202E&gt;gnp"},
		"escapes":   {"ls \x1b[8m", "ls &lt;U+001B&gt;[8m"},
		"spaces":    {"ls" + strings.Repeat(" ", 40) + "; pwd", "ls ; pwd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAsking(t)
			a.board.set("a", c.text)
			a.events.put(becomes("a", adapters.Working, adapters.Waiting))
			n, key := a.last(t, 1)
			if want := []string{"default", "Open", "deny:" + key, "Deny"}; !slices.Equal(n.Actions, want) || !strings.Contains(n.Body, c.body) {
				t.Errorf("said %q, actions %q", n.Body, n.Actions)
			}
		})
	}
}

// TestSeveralAsk: a notification of several waits answers none of them, and opens the queue.
func TestSeveralAsk(t *testing.T) {
	a := startAsking(t)
	a.board.set("a", "ls")
	a.board.set("b", "make")
	a.events.put(becomes("a", adapters.Working, adapters.Waiting), becomes("b", adapters.Working, adapters.Waiting))
	n, _ := a.last(t, 1)
	if n.Summary != "2 sessions need you" || !slices.Equal(n.Actions, []string{"default", "Open"}) {
		t.Errorf("said %q, actions %q", n.Summary, n.Actions)
	}
	a.settled(t)
	a.server.click(t, n.ID, "default")
	if id := <-a.shows; id != "" {
		t.Errorf("shows %q", id)
	}
}
