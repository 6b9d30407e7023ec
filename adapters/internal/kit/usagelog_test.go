package kit

import (
	"math/rand/v2"
	"testing"
	"time"

	"rollcall/adapters"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func in(n int64) adapters.Tokens { return adapters.Tokens{Input: n} }

func TestSteps(t *testing.T) {
	var l Log
	l.Prompt()
	l.Add(time.Time{}, in(1), 0) // before any time is known
	l.Prompt()
	l.Answer(noon.Add(time.Minute))
	l.Add(noon.Add(14*time.Minute), in(2), 0.5)
	l.Add(time.Time{}, in(4), 0)
	l.Answer(noon.Add(16 * time.Minute))
	l.Add(noon.Add(-time.Hour), in(8), 0) // out of order
	l.Prompt()
	got := l.Steps(in(31), 0.75, noon)
	want := []adapters.Usage{
		{At: noon.Add(-time.Hour), Tokens: in(9)},
		{At: noon, Tokens: in(22), CostUSD: 0.75, Turns: 1},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
	if turns := l.Steps(in(31), 0.75, noon); &turns[0] == &got[0] {
		t.Error("two answers share their steps")
	}
}

func TestStepsWithoutRecords(t *testing.T) {
	var l Log
	if got := l.Steps(in(3), 0, noon.Add(time.Minute)); len(got) != 1 || got[0] != (adapters.Usage{At: noon, Tokens: in(3)}) {
		t.Errorf("%+v", got)
	}
	if got := l.Steps(in(0), 0, time.Time{}); len(got) != 1 || got[0] != (adapters.Usage{}) {
		t.Errorf("%+v", got)
	}
	l.Add(time.Time{}, in(3), 0)
	if got := l.Steps(in(3), 0, noon.Add(time.Minute)); len(got) != 1 || got[0] != (adapters.Usage{At: noon, Tokens: in(3)}) {
		t.Errorf("%+v", got)
	}
	l.Add(noon.Add(-24*time.Hour), in(5), 0)
	if got := l.Steps(in(4), 0, noon); len(got) != 1 || got[0].Tokens != in(4) { // fewer than the records have
		t.Errorf("%+v", got)
	}
}

func TestLatePrompt(t *testing.T) {
	var l Log
	l.LatePrompt()
	l.Answer(noon)
	l.LatePrompt()
	l.Prompt()
	l.Answer(noon.Add(time.Hour))
	if got := l.Steps(in(0), 0, noon); len(got) != 2 || got[0].Turns != 1 || got[1].Turns != 1 {
		t.Errorf("%+v", got)
	}
}

// Whatever is added in whatever order, the steps add up to the totals and are in order; a clone changes nothing.
func TestStepsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var l Log
		var want adapters.Tokens
		for range rng.IntN(40) {
			at := noon.Add(time.Duration(rng.IntN(5000)) * time.Minute)
			if rng.IntN(10) == 0 {
				at = time.Time{}
			}
			l.Add(at, in(rng.Int64N(100)), 0)
			other := l.Clone()
			other.Add(at, in(1e9), 1)
		}
		for _, s := range l.steps {
			want.Add(s.Tokens)
		}
		if want.Input > 1e6 {
			t.Fatal("a clone changed the log")
		}
		want.Add(in(rng.Int64N(3)))
		var sum adapters.Tokens
		last := time.Time{}
		for _, s := range l.Steps(want, 0, noon) {
			sum.Add(s.Tokens)
			if !s.At.After(last) {
				t.Fatalf("%s after %s", s.At, last)
			}
			last = s.At
		}
		if sum != want {
			t.Fatalf("%+v, want %+v", sum, want)
		}
	}
}
