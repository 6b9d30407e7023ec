package ui

import (
	"strings"
	"testing"
	"time"

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
