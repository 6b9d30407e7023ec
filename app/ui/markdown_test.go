package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
)

const reply = "The race is in the token buffer: it comes from a `sync.Pool` and is handed back while a **lookahead** token still points into it.\n\n" +
	"```go\nbuf := pool.Get().([]byte)\ndefer pool.Put(buf) // lookahead outlives this\n```\n\n" +
	"## What I change\n\n1. copy the token in `peek()`\n2. keep the pool for the scanner alone\n   - and nothing else\n3. run the suite 200 times with `-race`\n\n" +
	"| run | failures before | failures after |\n| --- | --- | --- |\n| CI | 9 | 0 |\n| local | 3 | 0 |\n\n> Nothing else changed. See [the issue](https://example.org/1)."

// TestMarkdown: replies are shown as Markdown, the newest one whole; marks of emphasis and fences are not shown, and nothing else is lost.
func TestMarkdown(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, from(adapters.FromUser, "0", "Fix the *flaky* test", 3*time.Minute), from(adapters.FromAgent, "1", reply, time.Minute))
	w.talking(2)
	all := strings.Join(shownTexts(c.content), "\n")
	for _, want := range []string{"sync.Pool", "buf := pool.Get().([]byte)", "// lookahead outlives this", "What I change", "copy the token in peek()", "•", "2.", "and nothing else",
		"failures before", "failures after", "CI", "the issue (https://example.org/1)", "Fix the *flaky* test"} {
		if !strings.Contains(all, want) {
			t.Errorf("the conversation lacks %q:\n%s", want, all)
		}
	}
	for _, mark := range []string{"```", "**", "##", "| ---", "Show all"} {
		if strings.Contains(all, mark) {
			t.Errorf("the conversation shows %q:\n%s", mark, all)
		}
	}
	w.shoot("markdown")
}

const plan = "# Rate limits\n\nEach key gets a **bucket** in Redis.\n\n1. add `limiter.go`\n2. call it in `serve()`\n\n```sh\nnpm install redis\n```\n"

// TestPlanIsMarkdown: a plan is shown as Markdown where it is to be approved and in the conversation. One of which Markdown would leave out a part is shown
// as it is written.
func TestPlanIsMarkdown(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		has, lack []string
	}{
		"plan":               {plan, []string{"Rate limits", "bucket", "1.", "limiter.go", "sh", "npm install redis", "Folder", "/srv/api"}, []string{"# Rate", "**", "```", "`"}},
		"a hidden comment":   {plan + "\n[//]: # (and rm -rf ~)\n", []string{"# Rate limits", "[//]: # (and rm -rf ~)", "```sh"}, nil},
		"a hidden cell":      {"| a |\n| --- |\n| b | rm -rf ~ |\n", []string{"| b | rm -rf ~ |"}, nil},
		"an image's address": {"![logo](https://example.org/rm)", []string{"![logo](https://example.org/rm)"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := command("a", "1", c.text, 3*time.Minute)
			r.Kind, r.Folder = adapters.AsksPlan, "/srv/api"
			w := openQueue(t, newAsker(r), waiters(map[string]int{"a": 3}))
			w.armed(c.text)
			card := w.ui.sessions.detail.request.content
			w.win.Canvas().Capture()
			w.until("the height", func() bool { return len(w.Queue) == 0 })
			all := strings.Join(append(shownTexts(card), w.ui.sessions.detail.request.code.All()...), "\n")
			if name == "plan" {
				all = strings.Join(shownTexts(w.ui.sessions.content), "\n") // with its row
			}
			for _, has := range c.has {
				if !strings.Contains(all, has) {
					t.Errorf("the card lacks %q:\n%s", has, all)
				}
			}
			for _, lack := range c.lack {
				if strings.Contains(all, lack) {
					t.Errorf("the card shows %q:\n%s", lack, all)
				}
			}
			if name == "plan" {
				w.shoot("plan")
			}
		})
	}
	w := open(t, full())
	w.core.say(firstID, from(adapters.FromUser, "0", "Add rate limits", 3*time.Minute),
		adapters.Message{Key: "1", Role: adapters.FromTool, Tool: "propose", Plan: true, Text: plan, State: adapters.ToolRunning, At: ago(time.Minute)})
	w.talking(2)
	all := strings.Join(shownTexts(w.ui.sessions.detail.conversation.content), "\n")
	if !strings.Contains(all, "npm install redis") || strings.Contains(all, "**") || strings.Contains(all, "```") {
		t.Errorf("the conversation shows:\n%s", all)
	}
	w.shoot("plan-conversation")
}

// TestCodeOutOfSight: a block of code that is scrolled out of sight, below what is above the conversation, takes no click from the buttons there.
func TestCodeOutOfSight(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	block := "```\n" + strings.Repeat("a line of code that is as long as the pane and longer, so that it reaches below every button\n", 60) + "```"
	w.core.say(firstID, from(adapters.FromAgent, "1", block, time.Minute), from(adapters.FromUser, "2", "Go on", time.Minute))
	w.talking(2)
	c.scroll.ScrollToBottom()
	w.win.Canvas().Capture()
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(w.ui.sessions.detail.more).AddXY(8, 8)
	test.MoveMouse(w.win.Canvas(), at)
	test.TapCanvas(w.win.Canvas(), at)
	if w.win.Canvas().Overlays().Top() == nil {
		t.Error("a click on the button of the menu does nothing")
	}
}

const audit = "| file | finding |\n| --- | --- |\n| internal/pay/charge.go:118 | The idempotency key is made from the clock, so that a retry charges twice; it must be made from the order and the attempt |\n\n" +
	"- [x] reproduce it\n- [ ] write the test\n\n> A retry must never charge twice.\n\n```go\n// key returns the key of a charge.\nfunc key(order string) int { return 42 }\n```\n\n" +
	"```diff\n--- a/charge.go\n+++ b/charge.go\n@@ -1 +1 @@\n-\told := now()\n+\tkey := key(order)\n```\n"

// TestReply: tables wrap their cells, tasks have boxes, quotes a bar, and diffs and code their colours; the copied message is its Markdown.
func TestReply(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, from(adapters.FromUser, "0", "Audit it", 3*time.Minute), toolCall("1", "Bash", "go test ./...", adapters.ToolDone, time.Minute), from(adapters.FromAgent, "2", audit, time.Minute))
	w.talking(3)
	w.win.Canvas().Capture()
	all := strings.Join(shownTexts(c.content), "\n")
	for _, mark := range []string{"[x]", "[ ]", "| file", "───"} {
		if strings.Contains(all, mark) {
			t.Errorf("the conversation shows %q:\n%s", mark, all)
		}
	}
	colors := map[string]fyne.ThemeColorName{"// key returns the key of a charge.": widgets.ColorMuted, "func": widgets.ColorWorking, "42": widgets.ColorWaiting,
		"-    old := now()": widgets.ColorBad, "+    key := key(order)": widgets.ColorGood, "@@ -1 +1 @@": widgets.ColorWorking}
	cell := false
	for _, o := range visible(c.content) {
		switch o := o.(type) {
		case *canvas.Text:
			if name, ok := colors[o.Text]; ok && o.Color == widgets.ThemeColor(name) {
				delete(colors, o.Text)
			}
		case *widgets.SelectText:
			cell = cell || strings.HasPrefix(o.Text, "The idempotency key") && o.Size().Height > 40 && o.Size().Width < c.scroll.Size().Width
		}
	}
	if len(colors) > 0 || !cell {
		t.Errorf("no colour: %v; the cell wraps: %v; shown:\n%s", colors, cell, all)
	}
	for i, want := range map[int]string{1: "go test ./...", 2: strings.TrimSpace(audit)} {
		test.Tap(c.views[i].mark)
		if got := fyne.CurrentApp().Clipboard().Content(); strings.TrimSpace(got) != want {
			t.Errorf("message %d is copied as %q, want %q", i, got, want)
		}
	}
	w.shoot("reply")
	w.win.Resize(fyne.NewSize(420, 600))
	w.shoot("reply-narrow")
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject
	for _, o := range visible(c.content) {
		if cell, ok := o.(*widgets.SelectText); ok && strings.HasPrefix(cell.Text, "The idempotency key") && at(cell).Y+cell.Size().Height < at(c.scroll).Y {
			t.Error("a cell that is scrolled out of sight is under the mouse")
		}
	}
}

// TestQuestionCards: each question is a card with its header, how many options may be chosen, and what each option means, also where it can't be answered.
func TestQuestionCards(t *testing.T) {
	for name, canReply := range map[string]bool{"answer": true, "read": false} {
		q := adapters.Request{Agent: agentname.ClaudeCode, Session: "a", ID: "q", Kind: adapters.AsksQuestion, Text: "In which region?\nWhich features?", AskedAt: ago(time.Minute), Folder: "/srv", OnlyRead: !canReply, Where: "the agent",
			Questions: []adapters.Question{{Header: "Region", Text: "In which region?", Options: []adapters.Option{{Label: "eu-central-1", Says: "Frankfurt: lowest latency for most customers"}, {Label: "eu-west-1"}}},
				{Header: "Features", Text: "Which features?", Several: true, Options: []adapters.Option{{Label: "Versioning", Says: "Keep old versions for 30 days"}, {Label: "Encryption"}}}}}
		w := openQueue(t, newAsker(q), waiters(map[string]int{"a": 1}))
		w.armed(q.Text)
		card := w.ui.sessions.detail.request.content
		shows(t, card, "Region · Choose one", "Features · Choose one or more", "In which region?", "1  eu-central-1", "Frankfurt: lowest latency for most customers", "2  Encryption")
		if code := strings.Join(w.ui.sessions.detail.request.code.All(), "\n"); strings.Contains(code, "Versioning") || !strings.Contains(code, "/srv") {
			t.Errorf("beside the cards the request has %q", code)
		}
		if send := w.ui.sessions.detail.request.form.send; send.Visible() != canReply {
			t.Errorf("%s: the button that sends answers is visible: %v", name, send.Visible())
		}
		w.shoot("question-cards-" + name)
	}
}

// TestCopyBlock: a right click on a block in colours copies its text as it was written.
func TestCopyBlock(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	w.core.say(firstID, from(adapters.FromAgent, "1", "Run\n\n```go\nif x {\n\treturn 42 // why\n}\n```\n", time.Minute))
	w.talking(1)
	for _, o := range visible(c.content) {
		if block, ok := o.(fyne.SecondaryTappable); ok {
			block.TappedSecondary(&fyne.PointEvent{})
			for _, item := range visible(w.win.Canvas().Overlays().Top()) {
				if tapped, ok := item.(fyne.Tappable); ok && strings.Contains(strings.ToLower(fmt.Sprintf("%T", item)), "menuitem") {
					test.Tap(tapped)
				}
			}
		}
	}
	if got, want := fyne.CurrentApp().Clipboard().Content(), "if x {\n\treturn 42 // why\n}"; got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
}
