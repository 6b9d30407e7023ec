package openclaw_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

func TestStop(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	a := w.adapter()
	s := one(t, a)
	must.Do(t, a.Stop(t.Context(), s))
	s = one(t, a)
	if s.Status != adapters.Idle || s.Outcome != adapters.Interrupted {
		t.Errorf("%+v", s)
	}
	if err := a.Stop(t.Context(), s); err != nil {
		t.Errorf("a turn that is over: %v", err)
	}
	if err := w.adapter().Stop(t.Context(), s); err != nil {
		t.Errorf("by an adapter that never listed it: %v", err)
	}
	err := a.Stop(t.Context(), adapters.Session{ID: "nobody", Agent: openclaw.Name})
	if err == nil || !strings.Contains(err.Error(), "no gateway has the session") {
		t.Errorf("%v", err)
	}
}

func TestStopDenied(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{DenyAdmin: true})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	a := w.adapter()
	s := one(t, a)
	if s.Status != adapters.Working || !strings.Contains(s.Evidence, "can't be seen") {
		t.Errorf("%+v", s)
	}
	err := a.Stop(t.Context(), s)
	onlyProblem(t, err, adapters.ErrUnreadable, "another client started", "operator.admin")
}

// TestFirstPromptOfALongConversation: the gateway tells only the end of one, so that an adapter that knew it before does not tell its first prompt either.
func TestFirstPromptOfALongConversation(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	old := w.adapter()
	now := time.Now()
	row := gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done"}
	for i := range 12 {
		row.UpdatedAt = now.Add(time.Duration(i) * time.Second)
		row.Messages = append(row.Messages, gatewaytest.Message{Role: "user", Text: fmt.Sprint("prompt ", i)}, gatewaytest.Message{Role: "assistant", Text: "done"})
		g.Update(row)
		was, now := one(t, old), one(t, w.adapter())
		if was.FirstPrompt != now.FirstPrompt || was.LastPrompt != now.LastPrompt {
			t.Errorf("after %d prompts: %q %q, a fresh adapter says %q %q", i+1, was.FirstPrompt, was.LastPrompt, now.FirstPrompt, now.LastPrompt)
		}
		want := "prompt 0"
		if len(row.Messages) >= 20 {
			want = ""
		}
		if now.FirstPrompt != want || now.LastPrompt != fmt.Sprint("prompt ", i) {
			t.Errorf("after %d prompts: %q %q", i+1, now.FirstPrompt, now.LastPrompt)
		}
	}
}

func TestPeek(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	at := time.UnixMilli(1795238665857)
	messages := []gatewaytest.Message{
		{Role: "user", Text: "[Sat 2026-11-21 05:21 UTC] make it so", At: at},
		{Role: "assistant", Tool: "exec", Command: "make", CallID: "c1"},
		{Role: "toolResult", Tool: "exec", CallID: "c1", Text: "made"},
		{Role: "assistant", Tool: "exec", Command: "false", CallID: "c2"},
		{Role: "toolResult", Tool: "exec", CallID: "c2", Text: `{"status":"error"}`},
		{Role: "assistant", Tool: "exec", Command: "sleep 9", CallID: "c3"},
		{Role: "assistant", Text: strings.Repeat("é", adapters.MaxText)},
	}
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done", Messages: messages})
	a := w.adapter()
	s := one(t, a)
	if s.FirstPrompt != "make it so" || s.LastPrompt != "make it so" {
		t.Errorf("prompts %q %q", s.FirstPrompt, s.LastPrompt)
	}
	got, err := a.Peek(t.Context(), s, 10)
	if err != nil || len(got) != 5 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	if m := got[0]; m.Role != adapters.FromUser || m.Text != "make it so" || !m.At.Equal(at) {
		t.Errorf("%+v", m)
	}
	for i, want := range []adapters.ToolState{adapters.ToolDone, adapters.ToolFailed, adapters.ToolRunning} {
		if m := got[i+1]; m.Role != adapters.FromTool || m.Tool != "exec" || m.State != want {
			t.Errorf("%+v, want %s", m, want)
		}
	}
	if m := got[4]; m.Role != adapters.FromAgent || len(m.Text) > adapters.MaxText || !strings.HasSuffix(m.Text, "…") {
		t.Errorf("%d bytes", len(m.Text))
	}
	keys := map[string]bool{}
	for _, m := range got {
		keys[m.Key] = true
	}
	messages = append(messages, gatewaytest.Message{Role: "user", Text: "more"})
	g.Change("agent:main:k", func(s *gatewaytest.Session) { s.Messages = messages })
	last, err := a.Peek(t.Context(), s, 2)
	if err != nil || len(last) != 2 || last[1].Text != "more" || !keys[last[0].Key] || keys[last[1].Key] {
		t.Errorf("%v, %+v", err, last)
	}
}

// TestPeekBeforeResults: results that fill what is asked for first hide nothing that was said before them.
func TestPeekBeforeResults(t *testing.T) {
	messages := []gatewaytest.Message{{Role: "user", Text: "make all of it"}}
	const calls = 20 // side by side
	for i := range calls {
		messages = append(messages, gatewaytest.Message{Role: "assistant", Tool: "exec", Command: fmt.Sprint("make ", i), CallID: fmt.Sprint("c", i)})
	}
	for i := range calls {
		messages = append(messages, gatewaytest.Message{Role: "toolResult", Tool: "exec", CallID: fmt.Sprint("c", i), Text: "made"})
	}
	for _, o := range []gatewaytest.Options{{}, {Version: "2026.6.1", NoOffset: true}} {
		w := newFixture(t)
		g := w.running(o)
		g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Status: "done", Messages: messages})
		a := w.adapter()
		got, err := a.Peek(t.Context(), one(t, a), 2)
		if err != nil || len(got) != 2 || got[1].Text != "make 19" || got[1].State != adapters.ToolDone {
			t.Errorf("%s: %+v, %v", g.Version(), got, err)
		}
	}
}
