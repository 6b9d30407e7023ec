package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/follow"
	"rollcall/app/listing"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
)

// workday is a conversation with everything in it.
func workday() []adapters.Message {
	return []adapters.Message{
		from(adapters.FromUser, "1", "The parser test fails about once in twenty runs on CI. Find out why and fix the cause, not the symptom.", 26*time.Hour),
		from(adapters.FromAgent, "2", "I'll start with the test itself and run it often enough to see it fail.", 52*time.Minute),
		toolCall("3", "Read", "/home/dev/projects/rollcall/parser/parser_test.go", adapters.ToolDone, 51*time.Minute),
		toolCall("4", "Bash", "go test -run TestParser -count=200 ./parser", adapters.ToolFailed, 50*time.Minute),
		toolCall("5", "Grep", "sync.Pool", adapters.ToolDone, 49*time.Minute),
		from(adapters.FromAgent, "6", "Found it: the token buffer comes from a sync.Pool and is handed back while a lookahead token still points into it.\n\n"+
			"\tbuf := pool.Get().([]byte)\n\tdefer pool.Put(buf) // lookahead outlives this\n\nI'll give the lookahead its own copy, and add a test that forces the reuse.", 48*time.Minute),
		toolCall("7", "Edit", "/home/dev/projects/rollcall/parser/lex.go", adapters.ToolDone, 47*time.Minute),
		from(adapters.FromNote, "8", "Conversation compacted", 30*time.Minute),
		from(adapters.FromUser, "9", "yes, and run the whole suite with -race afterwards", 3*time.Minute),
		toolCall("10", "Bash", "go test -race -count=1 ./... && golangci-lint run --timeout 10m ./... && go vet -copylocks ./parser/...", adapters.ToolRunning, 2*time.Minute),
	}
}

// talking waits until the conversation shows these messages.
func (w *window) talking(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d messages", n), func() bool { return len(w.ui.sessions.detail.conversation.views) == n })
}

func TestShotConversation(t *testing.T) {
	w := open(t, full())
	w.core.say(firstID, workday()...)
	w.talking(10)
	w.shoot("conversation")
	w.win.Resize(fyne.NewSize(720, 420))
	w.shoot("conversation-small")
	w.win.Resize(fyne.NewSize(1400, 900))
	w.shoot("conversation-large")
}

// TestShotFrontPage makes the picture of README: a request that can be answered, with the conversation that led to it.
func TestShotFrontPage(t *testing.T) {
	const ask = "go test -race -count=1 ./..."
	talk := workday()
	talk[len(talk)-1] = toolCall("10", "Bash", ask, adapters.ToolRunning, 2*time.Minute)
	request := command(firstID, "r1", ask, 2*time.Minute)
	request.Folder = "/home/dev/projects/rollcall"
	question := adapters.Request{Agent: agentname.Codex, Session: "019a-codex-1", ID: "q", Kind: adapters.AsksQuestion, Text: "Which region shall the bucket be in?", AskedAt: ago(time.Minute)}
	a := newAsker(request, question)
	a.As, a.cwd = agentname.ClaudeCode, request.Folder
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: []adapters.Adapter{a}, Answers: answer.New(a, func() settings.Answering { return settings.AnswerAll })})
	w.core.say(firstID, talk...)
	w.talking(10)
	w.armed(ask)
	w.shoot("front-page")
}

func TestShotConversationStates(t *testing.T) {
	w := open(t, full())
	w.until("nothing", func() bool { return says(w.ui.sessions.detail.conversation, "No messages yet.") })
	w.shoot("conversation-empty")
	w.core.fail(errors.New("/home/dev/.claude/projects/x.jsonl: unreadable: permission denied (give your user read permission on it)"))
	w.core.say(firstID)
	w.until("the failure", func() bool { return says(w.ui.sessions.detail.conversation, "The conversation cannot be read") })
	w.shoot("conversation-failed")
	w.core.hold = make(chan struct{})
	defer close(w.core.hold)
	w.ui.Show("w1")
	w.shoot("conversation-loading")
}

func TestConversation(t *testing.T) {
	core := &fakeCore{snapshot: full()}
	core.hold = make(chan struct{})
	w := openWith(t, core, Options{Agents: usualAgents()})
	c := w.ui.sessions.detail.conversation
	shows(t, c.content, "Reading the conversation…")
	w.core.say(firstID, workday()...)
	close(core.hold)
	w.talking(10)
	shows(t, c.content, "10 messages", "You", "The parser test fails", "20 Nov 12:30", "Claude Code", "lookahead outlives this",
		"Bash", "go test -run TestParser -count=200 ./parser", "Conversation compacted", "14:27")
	if w.activity() != nil {
		t.Error("the sign still moves")
	}
	facts := func() int {
		w.core.talkMu.Lock()
		defer w.core.talkMu.Unlock()
		return len(w.core.facts)
	}
	asked := facts()
	// A call ends, and a message is added: the other views stay.
	kept, call := c.views[5], c.views[9]
	more := workday()
	more[9].State = adapters.ToolDone
	more = append(more, from(adapters.FromAgent, "11", "All green.", time.Second))
	w.core.say(firstID, more...)
	w.talking(11)
	if c.views[5] != kept || c.views[9] != call {
		t.Error("unchanged messages got new views: what the user had selected is gone")
	}
	if call.icon.Resource != fyne.Resource(toolIcon(adapters.ToolDone)) {
		t.Error("the call doesn't show that it is done")
	}
	shows(t, c.content, "All green.", "11 messages")
	// The conversation went on.
	eventually.True(t, "a question about the facts", func() bool { return asked > 0 || facts() > 0 })
	// It fails later: what was said stays.
	w.core.fail(errors.New("/x.jsonl: unreadable: \x1b[31mdenied"))
	w.core.say(firstID)
	w.until("the problem", func() bool { return c.problem.Content.Visible() })
	shows(t, c.content, "All green.", "/x.jsonl: unreadable: denied")
	w.core.fail(nil)
	w.core.say(firstID, more...)
	w.until("its end", func() bool { return !c.problem.Content.Visible() })
}

func TestConversationFailsAndIsTriedAgain(t *testing.T) {
	core := &fakeCore{snapshot: full()}
	core.fail(errors.New("no answer in 5 s")) // before the window asks
	w := openWith(t, core, Options{Agents: usualAgents()})
	c := w.ui.sessions.detail.conversation
	w.until("the failure", func() bool { return says(c, "The conversation cannot be read") })
	shows(t, c.content, "The conversation cannot be read", "no answer in 5 s", "Try again")
	w.core.fail(fmt.Errorf("pi: %w", app.ErrNoPeek))
	w.core.say(firstID)
	w.until("the reason", func() bool { return says(c, "Rollcall cannot read the conversations") })
	shows(t, c.content, "Rollcall cannot read the conversations of this agent.")
	w.core.fail(nil)
	w.core.say(firstID, workday()...)
	w.talking(10)
}

// An answer about a session that is no longer selected is not shown.
func TestLateConversationIsDropped(t *testing.T) {
	w := open(t, full())
	w.core.say(firstID, workday()...)
	w.talking(10)
	c := w.ui.sessions.detail.conversation
	late := c.feed
	w.ui.Show("w1")
	if len(c.views) != 0 || !says(c, "Reading the conversation…") {
		t.Errorf("another session begins with %d messages of the one before", len(c.views))
	}
	late.Deliver.Set(describe.NewMessages(workday(), nil, agentname.ClaudeCode, 50))
	w.until("nothing said", func() bool { return says(c, "No messages yet.") })
	if len(c.views) != 0 {
		t.Error("shows what another session said")
	}
	w.publish(tree("other idle"))
	shows(t, w.ui.Content(), "No longer listed")
	if c.feed != nil {
		t.Error("a session that is gone is still followed")
	}
}

func TestConversationIsAskedAgainWhenTheSessionChanges(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.until("nothing said", func() bool { return says(c, "No messages yet.") })
	asked := func() int {
		w.core.talkMu.Lock()
		defer w.core.talkMu.Unlock()
		return len(w.core.asked)
	}
	followed := func() int {
		w.core.talkMu.Lock()
		defer w.core.talkMu.Unlock()
		return len(w.core.followed)
	}
	eventually.True(t, "that it is followed", func() bool { return followed() == 1 }) // whoever begins to follow it reads it
	before := -1
	for before != asked() { // until it is quiet
		before = asked()
		time.Sleep(3 * follow.PeekPause)
	}
	w.publish(full())
	time.Sleep(3 * follow.PeekPause) // no event shows that it does not ask
	if n := asked(); n != before {
		t.Errorf("asked %d times more, though nothing changed", n-before)
	}
	s := full()
	s.Sessions()[0].LastActivityAt = clock
	s.Sessions()[0].Files = append(s.Sessions()[0].Files, "/another")
	w.publish(s)
	eventually.True(t, "a question, and that it is followed again", func() bool { return asked() > before && followed() == 2 })
}

// longTalk is a conversation of n messages.
func longTalk(n int) []adapters.Message {
	var out []adapters.Message
	for i := range n {
		age := time.Duration(n-i) * time.Second
		switch i % 4 {
		case 0:
			out = append(out, from(adapters.FromUser, fmt.Sprint(i), fmt.Sprintf("question %d, which is long enough to be wrapped in a narrow window", i), age))
		case 1:
			out = append(out, from(adapters.FromAgent, fmt.Sprint(i), strings.Repeat(fmt.Sprintf("Answer %d goes on. ", i), 1+i%30), age))
		default:
			out = append(out, toolCall(fmt.Sprint(i), "Bash", fmt.Sprintf("go test ./pkg%d", i), adapters.ToolDone, age))
		}
	}
	return out
}

func (c *conversation) atEnd() bool {
	return c.scroll.Offset.Y+c.scroll.Size().Height >= c.rows.MinSize().Height-1
}

func TestConversationSticksToItsEnd(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	all := longTalk(60)
	w.core.say(firstID, all[:40]...)
	w.talking(40)
	w.win.Canvas().Capture()
	if !c.atEnd() || c.rows.MinSize().Height < 600 {
		t.Errorf("opens at %v of %v", c.scroll.Offset.Y, c.rows.MinSize().Height)
	}
	w.core.say(firstID, all[:41]...)
	w.talking(41)
	if !c.atEnd() {
		t.Errorf("a new message leaves it at %v of %v", c.scroll.Offset.Y, c.rows.MinSize().Height)
	}
	w.win.Resize(fyne.NewSize(720, 500))
	w.win.Canvas().Capture()
	if !c.atEnd() {
		t.Errorf("another size leaves it at %v of %v", c.scroll.Offset.Y, c.rows.MinSize().Height)
	}
	// The user scrolls up: it stays there.
	c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: 300}})
	at := c.scroll.Offset.Y
	w.core.say(firstID, all[:45]...)
	w.talking(45)
	w.core.say(firstID, all[3:59]...) // more than are asked for
	w.until("the last one", func() bool { return c.views[len(c.views)-1].message.Key == "58" })
	if len(c.views) != 59 {
		t.Errorf("%d messages are left while the user reads the oldest", len(c.views))
	}
	if c.scroll.Offset.Y != at {
		t.Errorf("a new message moved what the user reads from %v to %v", at, c.scroll.Offset.Y)
	}
	c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: -100_000}})
	w.core.say(firstID, all[3:]...)
	w.talking(follow.FirstPeek)
	if !c.atEnd() {
		t.Error("back at the end, it doesn't stick to it")
	}
}

// When the window gets another height, the end stays visible, and so does every message in sight.
func TestConversationInAnotherHeight(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, longTalk(1000)...)
	w.talking(follow.FirstPeek)
	check := func(height float32) {
		t.Helper()
		w.win.Resize(fyne.NewSize(1040, height))
		w.win.Canvas().Capture()
		for i, v := range c.views {
			y := v.content.Position().Y - c.scroll.Offset.Y
			if inSight := y < c.scroll.Size().Height && y+v.content.Size().Height > 0; inSight && !v.content.Visible() {
				t.Errorf("at a height of %v, message %d is not shown", height, i)
			}
		}
	}
	for _, height := range []float32{420, 2000, 500, 680} {
		if check(height); !c.atEnd() {
			t.Errorf("the end is not visible at a height of %v", height)
		}
	}
	c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: 100_000}})
	check(2000)
}

func TestEarlierMessages(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, longTalk(1000)...)
	w.talking(follow.FirstPeek)
	first, toTop := c.views[0], func() { c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: 100_000}}) }
	if first.content.Visible() {
		t.Error("a message far above is not hidden, and takes its part of each frame")
	}
	toTop()
	shows(t, c.content, "Show earlier messages", "last 50")
	w.win.Canvas().Capture()
	place := func() float32 { return first.content.Position().Y - c.scroll.Offset.Y }
	was := place()
	w.press(c.earlier, fyne.KeyReturn)
	w.talking(follow.FirstPeek + follow.MorePeek)
	if now := place(); now < was-1 || now > was+1 {
		t.Errorf("what the user looked at moved from %v to %v", was, now)
	}
	for range 3 {
		c.showEarlier()
	}
	w.talking(follow.MostPeek)
	toTop()
	shows(t, c.content, "“rollcall peek” shows earlier ones")
	if strings.Contains(strings.Join(shownTexts(c.content), "\n"), "Show earlier messages") {
		t.Error("offers more than it shows")
	}
}

func TestLongMessageUnfolds(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, from(adapters.FromAgent, "1", strings.Repeat("word ", 300)+"END", time.Minute),
		from(adapters.FromUser, "2", strings.Repeat("line\n", 40)+"END", time.Minute), from(adapters.FromAgent, "3", "short", 0))
	w.talking(3)
	for i, v := range c.views[:2] {
		if v.message.Rest == "" || strings.Contains(strings.Join(shownTexts(v.content), "\n"), "END") {
			t.Fatalf("message %d is shown whole", i)
		}
		height := c.rows.MinSize().Height
		v.text.Toggle()
		if !strings.Contains(strings.Join(shownTexts(v.content), "\n"), "END") || c.rows.MinSize().Height <= height {
			t.Errorf("the rest of message %d is not shown", i)
		}
	}
	if c.views[2].message.Rest != "" {
		t.Error("a short message can be unfolded")
	}
	w.core.say(firstID, from(adapters.FromAgent, "1", strings.Repeat("word ", 300)+"END and more", time.Minute))
	w.talking(1)
	if !strings.Contains(strings.Join(shownTexts(c.views[0].content), "\n"), "END and more") {
		t.Error("a message that grew is folded again")
	}
}

func TestHostileConversation(t *testing.T) {
	w := open(t, hostile())
	bad := "\x1b[31mred\x1b[0m \x1b]0;owned\x07title\u202egnirts\u202c\r\x00\x7f\u009b2J <b>bold</b>"
	w.core.say("escape", from(adapters.FromUser, "1", bad+strings.Repeat("unbrokenword", 500), 0), from(adapters.FromAgent, "2", strings.Repeat("\u0301", 5000), 0),
		toolCall("3", bad+strings.Repeat("W", 5000), bad+strings.Repeat("huge ", 3000), "melted", 0), from(adapters.FromNote, "4", bad, 0),
		adapters.Message{Key: "5", Role: "wizard", Text: bad}, adapters.Message{Key: "6"})
	w.talking(6)
	c := w.ui.sessions.detail.conversation
	for _, text := range shownTexts(c.content) {
		for _, r := range text {
			if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x202e) {
				t.Errorf("shows %U in %.80q", r, text)
			}
		}
	}
	shows(t, c.content, "red titlegnirts")
	w.shoot("conversation-hostile")
	c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: 100_000}})
	w.shoot("conversation-hostile-top")
}

// says reports whether a conversation shows a text.
func says(c *conversation, text string) bool {
	return strings.Contains(strings.Join(shownTexts(c.content), "\n"), text)
}

// BenchmarkConversation500 is what the UI goroutine does for the most messages
// that are shown: all at once, and one more.
func BenchmarkConversation500(b *testing.B) {
	win := fyne.CurrentApp().NewWindow("")
	u := newUI(&fakeCore{snapshot: full()}, Options{Window: win, Answers: answersOf(Options{})}, func(func()) {}, time.Now)
	defer u.Close()
	win.SetContent(u.Content())
	win.Resize(fyne.NewSize(1040, 680))
	u.apply(build(full(), listing.Selection{}))
	c := u.sessions.detail.conversation
	talk := longTalk(follow.MostPeek + 1)
	whole, more := describe.NewMessages(talk[:follow.MostPeek], nil, agentname.ClaudeCode, follow.MostPeek), describe.NewMessages(talk[1:], nil, agentname.ClaudeCode, follow.MostPeek)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			c.leave()
			c.take(whole)
		}
	})
	for _, language := range []string{"go", "text"} { // with colours and without
		var code []adapters.Message
		for i := range follow.MostPeek {
			code = append(code, from(adapters.FromAgent, fmt.Sprint("code", i), "```"+language+"\n"+strings.Repeat("if x := f(\"text\"); x > 42 { // why\n", 10)+"```", 0))
		}
		blocks := describe.NewMessages(code, nil, agentname.ClaudeCode, follow.MostPeek)
		b.Run("code-"+language, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.leave()
				c.take(blocks)
			}
		})
	}
	b.Run("one", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			c.take([]*describe.Messages{more, whole}[i%2])
		}
	})
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			c.take(whole)
		}
	})
	b.Run("scroll", func(b *testing.B) {
		c.take(whole)
		frames(b, func(i int) {
			by := float32(200)
			if i%400 >= 200 {
				by = -200
			}
			c.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: by}})
		})
	})
	b.Run("width", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			win.Resize(fyne.NewSize(1000+float32(i%2)*40, 680))
		}
	})
}
