package notify

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// The turn of a thread without a terminal is told once, when it ends: neither the
// unloading of the thread after it, nor a turn that a terminal shows.
func TestTurnWithoutATerminal(t *testing.T) {
	alone := func(ev app.Event, outcome adapters.Outcome) app.Event {
		ev.Session.Unattended = ev.Session.Status != adapters.Stopped
		ev.Session.Shared = true
		ev.Session.Outcome = outcome
		return ev
	}
	wasAlone := func(ev app.Event) app.Event {
		ev.Before.Unattended = true
		return ev
	}
	left := func(ev app.Event) app.Event {
		ev.Session.Shared = true
		ev.Session.Outcome = adapters.Completed
		ev.TerminalEnded = true
		return ev
	}
	suspended := alone(change("a", adapters.Working, adapters.Idle), "")
	suspended.Session.Suspended = true
	const told = "Codex finished in a [a]"
	for name, c := range map[string]struct {
		events []app.Event
		want   []string
	}{
		"completed, then unloaded": {[]app.Event{alone(change("a", adapters.Working, adapters.Idle), adapters.Completed),
			wasAlone(alone(change("a", adapters.Idle, adapters.Stopped), adapters.Completed))}, []string{told, ""}},
		"failed":                    {[]app.Event{alone(change("a", adapters.Working, adapters.Idle), adapters.Failed)}, []string{told}},
		"unloaded in the same look": {[]app.Event{wasAlone(alone(change("a", adapters.Working, adapters.Stopped), adapters.Completed))}, []string{told}},
		"its terminal ended, and another may show it": {[]app.Event{left(change("a", adapters.Working, adapters.Idle))}, []string{told}},
		"unloaded after its terminal ended": {[]app.Event{left(change("a", adapters.Working, adapters.Idle)),
			left(change("a", adapters.Idle, adapters.Stopped))}, []string{told, ""}},
		"interrupted":                    {[]app.Event{alone(change("a", adapters.Working, adapters.Idle), adapters.Interrupted)}, []string{""}},
		"a terminal shows it":            {[]app.Event{change("a", adapters.Working, adapters.Idle)}, []string{""}},
		"a terminal shows it, till gone": {[]app.Event{change("a", adapters.Working, adapters.Stopped)}, []string{""}},
		"begins":                         {[]app.Event{alone(change("a", adapters.Idle, adapters.Working), "")}, []string{""}},
		"suspended":                      {[]app.Event{suspended}, []string{""}},
		"a sub-agent":                    {[]app.Event{child(alone(change("a", adapters.Working, adapters.Idle), adapters.Completed), "p")}, []string{""}},
		"two turns": {[]app.Event{alone(change("a", adapters.Working, adapters.Idle), adapters.Completed),
			wasAlone(alone(change("a", adapters.Idle, adapters.Working), "")),
			wasAlone(alone(change("a", adapters.Working, adapters.Idle), adapters.Completed))}, []string{told, "", told}},
	} {
		p := newPolicy(nil)
		for i, ev := range c.events {
			if got := said(p.take([]app.Event{ev}, look{now: noon})); got != c.want[i] {
				t.Errorf("%s, event %d:\n got %s\nwant %s", name, i, got, c.want[i])
			}
		}
	}
	silent := newPolicy(func() Rules { return Rules{Kinds: map[Kind]Manner{Ended: Off}} })
	if got := said(silent.take([]app.Event{alone(change("a", adapters.Working, adapters.Idle), adapters.Completed)}, look{now: noon})); got != "" {
		t.Errorf("told although not wanted: %s", got)
	}
}

// A turn that leaves a plan to the user's decision is told as a question at once, however short it was, and withdrawn when the session goes on.
func TestPlanWaits(t *testing.T) {
	planned := change("a", adapters.Working, adapters.Idle)
	planned.Session.Outcome, planned.Session.Decision = adapters.Completed, "a plan"
	p := newPolicy(func() Rules {
		return Rules{ReplyAfter: time.Hour, Kinds: map[Kind]Manner{Reply: Off, Question: WithSound}}
	})
	orders := p.take([]app.Event{planned}, look{now: noon})
	if got := said(orders); got != "Codex has a plan for your decision in a [a]" || orders[0].kind != Question || !orders[0].sound {
		t.Errorf("told %q: %+v", got, orders)
	}
	if got := said(p.take([]app.Event{change("a", adapters.Idle, adapters.Working)}, look{now: noon})); got != "withdraw reply codex a" {
		t.Errorf("then %q", got)
	}
}

// TestMayAsk: a turn that is over, or waits for the user, is told at once where it took longer than 5 s, also where replies are not, and in words that say so.
func TestMayAsk(t *testing.T) {
	for name, c := range map[string]struct {
		took time.Duration
		may  bool
		off  Kind
		want string
	}{
		"longer":       {8 * time.Second, true, "", "Codex answered, or asks you in a [a]"},
		"short":        {4 * time.Second, true, "", ""},
		"certain":      {8 * time.Second, false, "", ""},
		"no replies":   {8 * time.Second, true, Reply, "Codex answered, or asks you in a [a]"},
		"no questions": {8 * time.Second, true, Question, "Codex answered, or asks you in a [a]"},
	} {
		p := newPolicy(func() Rules {
			r := Rules{ReplyAfter: 30 * time.Second, Kinds: map[Kind]Manner{}}
			if c.off != "" {
				r.Kinds[c.off] = Off
			}
			return r
		})
		ev := change("a", adapters.Working, adapters.Idle)
		ev.Session.MayAsk = c.may
		ev.At = noon
		ev.Session.TurnStartedAt = noon.Add(-c.took)
		if got := said(p.take([]app.Event{ev}, look{now: noon})); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestMayAskInTurn: an open call that may wait for the user is told as a question at once, however short the turn was, and withdrawn once the session goes on.
func TestMayAskInTurn(t *testing.T) {
	open := change("a", adapters.Working, adapters.Unknown)
	open.Session.MayAsk = true
	open.At = noon
	open.Session.TurnStartedAt = noon.Add(-2 * time.Second)
	over := change("a", adapters.Unknown, adapters.Idle)
	over.Before.MayAsk = true
	over.Session.Outcome = adapters.Completed
	for name, c := range map[string]struct {
		off  Kind
		took time.Duration
		then app.Event
		want string
	}{
		"goes on":      {"", 0, change("a", adapters.Unknown, adapters.Working), "Codex may ask you in a [a]; withdraw reply codex a"},
		"short":        {"", 3 * time.Second, over, "Codex may ask you in a [a]; withdraw reply codex a"},
		"long":         {"", time.Minute, over, "Codex may ask you in a [a]; Codex replied in a [a]"},
		"no questions": {Question, 0, change("a", adapters.Unknown, adapters.Working), ""},
	} {
		p := newPolicy(func() Rules {
			return Rules{ReplyAfter: 30 * time.Second, Kinds: map[Kind]Manner{c.off: Off}}
		})
		c.then.At = noon.Add(time.Second)
		c.then.Session.TurnStartedAt = c.then.At.Add(-c.took)
		orders := p.take([]app.Event{open}, look{now: noon})
		orders = append(orders, p.take([]app.Event{c.then}, look{now: noon})...)
		if got := said(orders); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The turn of a one-shot and the end of its process are told as one: the end follows the turn at once. What ends later, or in another
// way, is told.
func TestOneShot(t *testing.T) {
	over := func(ev app.Event, outcome adapters.Outcome) app.Event {
		ev.Session.Outcome = outcome
		ev.At = noon
		ev.Before.TurnStartedAt = noon.Add(-time.Minute)
		ev.Session.TurnStartedAt = noon.Add(-time.Minute)
		return ev
	}
	for name, c := range map[string]struct {
		turn, end adapters.Outcome
		after     time.Duration
		want      string
	}{
		"replied, then ended":         {adapters.Completed, adapters.Completed, 500 * time.Millisecond, ""},
		"failed, then ended":          {adapters.Failed, adapters.Failed, 50 * time.Millisecond, ""},
		"replied, then killed":        {adapters.Completed, adapters.Died, 500 * time.Millisecond, "Codex died in a [a]; withdraw"},
		"replied, closed by the user": {adapters.Completed, adapters.Completed, 3 * time.Second, "Codex ended in a [a]; withdraw"},
	} {
		p := newPolicy(nil)
		if got := said(p.take([]app.Event{over(change("a", adapters.Working, adapters.Idle), c.turn)}, look{now: noon})); got == "" {
			t.Fatalf("%s: the turn is not told", name)
		}
		gone := over(end("a", 1), c.end)
		gone.Before.Status, gone.Before.Outcome = adapters.Idle, c.turn
		got := said(p.take([]app.Event{gone}, look{now: noon.Add(c.after)}))
		if (got == "") != (c.want == "") || c.want == "" && len(p.unsaid) != 1 {
			t.Errorf("%s: got %q, want %q; %d recorded as told", name, got, c.want, len(p.unsaid))
		}
		if got := said(p.take([]app.Event{gone}, look{now: noon.Add(c.after)})); got != "" {
			t.Errorf("%s: told again: %s", name, got)
		}
	}
}

// TestOwnActs: the user is not told of what the user has just done with Rollcall: a denial that ends the turn, a stop that ends the process. Other sessions, and
// what the session asks next, are told.
func TestOwnActs(t *testing.T) {
	long := func(ev app.Event) app.Event {
		ev.Session.Outcome = adapters.Completed
		ev.At = noon
		ev.Before.TurnStartedAt = noon.Add(-14 * time.Minute)
		ev.Session.TurnStartedAt = noon.Add(-14 * time.Minute)
		return ev
	}
	mine := look{now: noon, acted: map[string]bool{"a": true}}
	p := newPolicy(nil)
	if got := said(p.take([]app.Event{long(change("a", adapters.Waiting, adapters.Idle))}, mine)); got != "" {
		t.Errorf("the turn that was ended here: %s", got)
	}
	if got := said(p.take([]app.Event{end("a", 1)}, mine)); got != "" || len(p.unsaid) != 1 {
		t.Errorf("the session that was stopped here: %s, %d recorded", got, len(p.unsaid))
	}
	if got := said(p.take([]app.Event{long(change("b", adapters.Working, adapters.Idle)), end("c", 2)}, mine)); !strings.Contains(got, "[b]") || !strings.Contains(got, "[c]") {
		t.Errorf("other sessions: %q", got)
	}
	if got := said(p.take([]app.Event{change("a", adapters.Working, adapters.Waiting)}, mine)); !strings.Contains(got, "[a]") {
		t.Errorf("what it asks next: %q", got)
	}
}

// TestWorkInBackground: a reply that leaves a command running says so, and the reply after the command's end replaces it, silently. With "when nothing runs" only
// the second is told. A prompt of the user's withdraws the first.
func TestWorkInBackground(t *testing.T) {
	over := func(commands int) app.Event {
		ev := change("a", adapters.Working, adapters.Idle)
		ev.Session.Outcome, ev.Session.TurnStartedAt, ev.At = adapters.Completed, noon.Add(-time.Hour), noon
		for range commands {
			ev.Session.Background = append(ev.Session.Background, adapters.Background{Kind: adapters.Running, TurnFollows: true})
		}
		return ev
	}
	again := change("a", adapters.Idle, adapters.Working)
	again.Session.TurnStartedAt = noon.Add(-time.Hour)
	prompted := again
	prompted.Session.TurnStartedAt = noon
	silent := over(1) // no turn follows the end of its command
	silent.Session.Background[0].TurnFollows = false
	const told = "Codex replied in a [a]"
	for name, c := range map[string]struct {
		manner Manner
		events []app.Event
		want   []string
		sounds int
	}{
		"on":                      {WithSound, []app.Event{over(2), again, over(0)}, []string{told, "", told}, 1},
		"and a prompt":            {WithSound, []app.Event{over(2), prompted, over(0)}, []string{told, "withdraw reply codex a", told}, 2},
		"when nothing runs":       {WhenNothingRuns, []app.Event{over(2), again, over(1), again, over(0)}, []string{"", "", "", "", told}, 0},
		"no turn follows":         {WhenNothingRuns, []app.Event{silent}, []string{told}, 0},
		"nothing runs":            {WhenNothingRuns, []app.Event{over(0), again}, []string{told, "withdraw reply codex a"}, 0},
		"without commands, again": {WithSound, []app.Event{over(0), again, over(0)}, []string{told, "withdraw reply codex a", told}, 2},
	} {
		p := newPolicy(func() Rules { return Rules{Kinds: map[Kind]Manner{Reply: c.manner}} })
		sounds := 0
		for i, ev := range c.events {
			orders := p.take([]app.Event{ev}, look{now: noon})
			if got := said(orders); got != c.want[i] {
				t.Errorf("%s, event %d: got %q, want %q", name, i, got, c.want[i])
			}
			for _, o := range orders {
				if o.sound {
					sounds++
				}
			}
		}
		if sounds != c.sounds {
			t.Errorf("%s: %d sounds", name, sounds)
		}
	}
	if body := FinishedText(over(2)).Body; !strings.HasSuffix(body, "2 commands run") {
		t.Errorf("the body is %q", body)
	}
}
