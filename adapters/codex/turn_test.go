package codex

import (
	"strings"
	"testing"
	"time"
)

// When the last turn's prompt was given is known while the turn is open and after its end, also of a
// thread that is older than it, read at once or on from what was read before.
func TestTurnStart(t *testing.T) {
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	two := func() *script {
		return newScript(threadA, "0.169.0").turn("a", "x").start("b").context("m").prompt("y")
	}
	long := strings.Repeat("z", 100<<10)
	for name, test := range map[string]struct {
		script *script
		want   time.Time
	}{
		"open":               {two(), after(10)},
		"ended":              {two().answer("z").tokens(1, 0, 1).done("b"), after(10)},
		"a long answer":      {two().answer(long).tokens(1, 0, 1).done("b"), after(10)},
		"aborted":            {two().event(`{"type":"turn_aborted","turn_id":"b","reason":"interrupted"}`), after(10)},
		"without any so far": {newScript(threadA, "0.169.0"), time.Time{}},
	} {
		if got := test.script.facts(t).prompted; !got.Equal(test.want) {
			t.Errorf("%s: prompted %v, want %v", name, got, test.want)
		}
		whole := test.script.text()
		half := int64(strings.LastIndexByte(whole[:len(whole)-1], '\n') + 1)
		p, err := readRollout(t.Context(), strings.NewReader(whole[:half]), half, nil)
		if err == nil {
			p, err = readRollout(t.Context(), strings.NewReader(whole), int64(len(whole)), &p)
		}
		if got := p.facts.prompted; err != nil || !got.Equal(test.want) {
			t.Errorf("%s, read on: prompted %v, want %v; %v", name, got, test.want, err)
		}
	}
}

// TestPromptOutOfReach: the prompt of a turn with more records than are read back is left out, and no other turn's is
// given for it, whether the rollout is read at once or while it grows.
func TestPromptOutOfReach(t *testing.T) {
	s := newScript(threadA, "0.169.0").turn("a", "first").start("b").context("m").prompt("second")
	filler := strings.Repeat("y", 400<<10)
	for range tailHard/len(filler) + 2 {
		s.result("n", filler)
	}
	s.tokens(7, 0, 1)
	whole := s.text()
	half := int64(len(whole) / 2)
	half = int64(strings.LastIndexByte(whole[:half], '\n') + 1)
	before, err := readRollout(t.Context(), strings.NewReader(whole[:half]), half, nil)
	if err != nil || before.facts.lastPrompt != "second" {
		t.Fatalf("half: last prompt %q, %v", before.facts.lastPrompt, err)
	}
	for name, from := range map[string]*progress{"at once": nil, "while it grows": &before} {
		p, err := readRollout(t.Context(), strings.NewReader(whole), int64(len(whole)), from)
		f := p.facts
		if err != nil || f.firstPrompt != "first" || f.lastPrompt != "" || !f.prompted.IsZero() || f.turn.state != open || !f.turn.since.IsZero() {
			t.Errorf("%s: prompts %q and %q at %v, turn %+v, %v", name, f.firstPrompt, f.lastPrompt, f.prompted, f.turn, err)
		}
	}
}
