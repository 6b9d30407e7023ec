package codex

import (
	"strings"
	"testing"
	"time"
)

// When the last turn began is known while it is open and after its end, also of a
// thread that is older than it, read at once or on from what was read before.
func TestTurnBegan(t *testing.T) {
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	two := func() *script {
		return newScript(threadA, "0.169.0").turn("a", "x").start("b").context("m").prompt("y")
	}
	long := strings.Repeat("z", 100<<10)
	for name, test := range map[string]struct {
		script *script
		want   time.Time
	}{
		"open":               {two(), after(8)},
		"ended":              {two().answer("z").tokens(1, 0, 1).done("b"), after(8)},
		"a long answer":      {two().answer(long).tokens(1, 0, 1).done("b"), after(8)},
		"aborted":            {two().event(`{"type":"turn_aborted","turn_id":"b","reason":"interrupted"}`), after(8)},
		"0.80: open":         {newScript(threadA, "0.80.0").prompt("x").answer("y").tokens(1, 0, 1).prompt("z"), after(5)},
		"0.80: answered":     {newScript(threadA, "0.80.0").prompt("x").answer("y").tokens(1, 0, 1).prompt("z").answer("y").tokens(2, 0, 2), after(5)},
		"taken back":         {two().event(`{"type":"thread_rolled_back","num_turns":1}`), time.Time{}},
		"without any so far": {newScript(threadA, "0.169.0"), time.Time{}},
	} {
		if got := test.script.facts(t).turn.began; !got.Equal(test.want) {
			t.Errorf("%s: began %v, want %v", name, got, test.want)
		}
		whole := test.script.text()
		half := int64(strings.LastIndexByte(whole[:len(whole)-1], '\n') + 1)
		p, err := readRollout(t.Context(), strings.NewReader(whole[:half]), half, nil)
		if err == nil {
			p, err = readRollout(t.Context(), strings.NewReader(whole), int64(len(whole)), &p)
		}
		if got := p.facts.turn.began; err != nil || !got.Equal(test.want) {
			t.Errorf("%s, read on: began %v, want %v; %v", name, got, test.want, err)
		}
	}
}
