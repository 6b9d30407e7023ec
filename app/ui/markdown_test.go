package ui

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
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
	for _, want := range []string{"sync.Pool", "buf := pool.Get().([]byte)\ndefer pool.Put(buf)", "What I change", "copy the token in peek()", "•", "2.", "and nothing else",
		"run     failures before   failures after", "CI      9                 0", "the issue (https://example.org/1)", "Fix the *flaky* test"} {
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
			w.until("the height", func() bool { return len(w.queue) == 0 })
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
