package openclaw_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// searchAll returns the hits of a search in all conversations, as "key role match".
func searchAll(t *testing.T, a adapters.Searcher, text string, tools bool) (hits []string) {
	t.Helper()
	p, err := textmatch.Text(text)
	must.Do(t, err)
	list, err := a.Conversations(t.Context(), time.Time{})
	must.Do(t, err)
	for _, c := range list {
		skipped, err := c.Search(t.Context(), &adapters.SearchQuery{Pattern: p, Tools: tools}, func(h adapters.Hit) error {
			hits = append(hits, fmt.Sprintf("%s %s %s", h.Key, h.Role, h.Match))
			return nil
		})
		if err != nil || len(skipped) > 0 {
			t.Errorf("%v, %v", skipped, err)
		}
	}
	return hits
}

// TestConversationOfPages: a conversation of which the gateway shows only some records, page by page, is read once from end to end.
func TestConversationOfPages(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	var messages []gatewaytest.Message
	var want []string
	for i := range 3600 {
		m := gatewaytest.Message{Role: "assistant", Text: fmt.Sprintf("answer %d", i), Hidden: i%3 == 0}
		messages = append(messages, m)
		if !m.Hidden {
			want = append(want, m.Text)
		}
	}
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done", Messages: messages})
	a := w.adapter()
	s := one(t, a)
	for _, n := range []int{1, 600, 1500, 10_000} {
		got, err := a.Peek(t.Context(), s, n)
		must.Do(t, err)
		var texts []string
		for _, m := range got {
			texts = append(texts, m.Text)
		}
		if last := want[max(0, len(want)-n):]; !slices.Equal(texts, last) {
			t.Errorf("the last %d messages are %d, want %d", n, len(texts), len(last))
		}
	}
	if got := searchAll(t, a, "answer", false); len(got) != len(want) {
		t.Errorf("%d hits, want %d", len(got), len(want))
	}
}

// TestConversationWithoutOffsets: of a long conversation 2026.6.1 gives only the end, which is said.
func TestConversationWithoutOffsets(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.6.1", NoOffset: true})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done",
		Messages: slices.Repeat([]gatewaytest.Message{{Role: "assistant", Text: "answer"}}, 1001)})
	a := w.adapter()
	one(t, a)
	list, err := a.Conversations(t.Context(), time.Time{})
	must.Do(t, err)
	pattern, err := textmatch.Text("answer")
	must.Do(t, err)
	skipped, err := list[0].Search(t.Context(), &adapters.SearchQuery{Pattern: pattern}, func(adapters.Hit) error { return nil })
	if err != nil || len(skipped) != 1 {
		t.Errorf("%v, %v", skipped, err)
	}
}

func TestSearch(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	messages := []gatewaytest.Message{
		{Role: "user", Text: "[Sat 2026-11-21 05:21 UTC] make it SO", At: time.UnixMilli(1795238665857)},
		{Role: "assistant", Tool: "exec", Command: "make so", CallID: "c1"},
		{Role: "toolResult", Tool: "exec", CallID: "c1", Text: "made so and \x1b[31m" + gatewaytest.DefaultToken},
	}
	for i := range 2100 { // more than a gateway gives at once
		messages = append(messages, gatewaytest.Message{Role: "assistant", Text: fmt.Sprintf("answer %d", i)})
	}
	messages = append(messages, gatewaytest.Message{Role: "assistant", Text: "„so“ it is"})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done", Messages: messages})
	a := w.adapter()
	s := one(t, a)
	peeked, err := a.Peek(t.Context(), s, 10_000)
	must.Do(t, err)
	last := peeked[len(peeked)-1].Key
	spoken := searchAll(t, a, "so", false)
	if len(spoken) != 2 || !strings.HasSuffix(spoken[0], " user SO") || spoken[1] != last+" assistant so" {
		t.Errorf("%q", spoken)
	}
	if got := searchAll(t, a, "answer 7", false); len(got) != 111 {
		t.Errorf("%d hits", len(got))
	}
	tools := searchAll(t, a, "so", true)
	if len(tools) != 3 || !slices.ContainsFunc(tools, func(h string) bool { return strings.Contains(h, "c1 tool so") }) {
		t.Errorf("%q", tools)
	}
	if got := searchAll(t, a, gatewaytest.DefaultToken, true); len(got) > 0 {
		t.Errorf("the gateway's token was found: %q", got)
	}
	g.Close()
	list, err := a.Conversations(t.Context(), time.Time{})
	// Elsewhere this process does not look like one that wrote the gateway's lock: the gateway counts as one that does not run.
	if runtime.GOOS == "linux" && err == nil && len(list) == 0 {
		t.Error("a gateway that is gone looks like one without conversations")
	}
}
