package codex

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
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

// The start of a turn does not move with messages that are steered into it; without a record of its beginning, each prompt begins one.
func TestTurnStartOfSteeredTurn(t *testing.T) {
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	steered := func() *script {
		return newScript(threadA, "0.140.0").turn("a", "x").start("b").context("m").prompt("y").answer("p").prompt("z")
	}
	for name, test := range map[string]struct {
		script *script
		want   time.Time
	}{
		"open":                   {steered(), after(8)},
		"ended":                  {steered().answer("q").tokens(1, 0, 1).done("b"), after(8)},
		"aborted":                {steered().event(`{"type":"turn_aborted","turn_id":"b","reason":"interrupted"}`), after(8)},
		"then one without words": {steered().done("b").start("c"), after(13)},
		"nothing recorded":       {newScript(threadA, "0.80.0").prompt("x").answer("p").prompt("y"), after(4)},
	} {
		if f := test.script.facts(t); !f.turnStart().Equal(test.want) {
			t.Errorf("%s: began %v, want %v", name, f.turnStart(), test.want)
		}
	}
}

// TestSilentTurn: a turn that ended without a last message and without an error.
func TestSilentTurn(t *testing.T) {
	const silent = `{"type":"task_complete","turn_id":"b","last_agent_message":null}`
	const reached = `{"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":100.0,"window_minutes":300},"rate_limit_reached_type":null}}`
	const plan = `{"type":"item_completed","turn_id":"b","item":{"type":"Plan","id":"p","text":"# Plan\n1. do it"}}`
	begun := func() *script {
		return newScript(threadA, "0.142.0").turn("a", "x").start("b").context("m").prompt("y")
	}
	for name, test := range map[string]struct {
		script  *script
		want    adapters.Outcome
		limited bool
		plan    bool
	}{
		"after nothing":              {begun().event(silent), adapters.Failed, false, false},
		"after a call":               {begun().call("c", "{}").result("c", "x").event(silent), "", false, false},
		"after commentary":           {begun().answer("I look first.").call("c", "{}").result("c", "x").event(silent), adapters.Failed, false, false},
		"after commentary, a limit":  {begun().answer("I look first.").call("c", "{}").result("c", "x").event(reached).event(silent), adapters.Failed, true, false},
		"after a plan":               {begun().event(plan).answer("<proposed_plan>").event(silent), adapters.Completed, false, true},
		"after a plan and words":     {begun().event(plan).answer("<proposed_plan>").done("b"), adapters.Completed, false, true},
		"a plan that was broken off": {begun().event(plan).event(`{"type":"turn_aborted","turn_id":"b","reason":"interrupted"}`), adapters.Interrupted, false, false},
		"the turn after a plan":      {begun().event(plan).event(silent).start("c").prompt("yes").answer("done").done("c"), adapters.Completed, false, false},
	} {
		f := test.script.facts(t)
		if f.turn.outcome != test.want || f.turn.limited != test.limited || (f.turn.plan != "") != test.plan {
			t.Errorf("%s: %q, limited %v, plan %q: %s", name, f.turn.outcome, f.turn.limited, f.turn.plan, f.turn.why)
		}
		if test.want == adapters.Failed && f.turn.why == "" {
			t.Errorf("%s: no reason", name)
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
