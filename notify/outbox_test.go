package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// queued lists the orders in the outbox, with the place on the screen that each takes.
func queued(b *outbox) string {
	var out []string
	for o, ok := b.take(); ok; o, ok = b.take() {
		text := said([]order{o})
		if o.replaces != "" {
			text += " in place of " + o.replaces
		}
		if o.onlyShown {
			text += ", if shown"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// A notification of several waits takes the place of that of the first one, whatever follows before the desktop has
// shown it.
func TestOutboxKeepsThePlaceOnTheScreen(t *testing.T) {
	const s = time.Second
	asks := func(id string) app.Event { return change(id, adapters.Working, adapters.Waiting) }
	goesOn := func(id string) app.Event { return change(id, adapters.Waiting, adapters.Working) }
	const place = " in place of waiting codex a"
	gone := fmt.Sprintf("withdraw %s", severalKey(noon.Add(s)))
	for name, c := range map[string]struct {
		events []app.Event
		later  []app.Event // 10 s later
		want   string
	}{
		"two more":                  {[]app.Event{asks("b"), asks("c")}, nil, "3 sessions need you []" + place},
		"one more, one over":        {[]app.Event{asks("b"), goesOn("a")}, nil, "Codex needs permission in b [b]" + place},
		"one more, all over":        {[]app.Event{asks("b"), goesOn("a"), goesOn("b")}, nil, gone + place},
		"one more, one over, again": {[]app.Event{asks("b"), goesOn("a"), asks("c")}, nil, "2 sessions need you []" + place},
		"the first waits again": {[]app.Event{asks("b")}, []app.Event{goesOn("a"), asks("a"), goesOn("b")},
			gone + place + "; Codex needs permission in a [a]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolicy(having(func(r *Rules) { r.Pause = 0 }))
			b := newOutbox()
			b.put(p.take([]app.Event{asks("a")}, look{now: noon})...)
			if got := queued(b); got != "Codex needs permission in a [a]" {
				t.Fatal(got)
			}
			b.put(p.take(c.events, look{now: noon.Add(s)})...)
			b.put(p.take(c.later, look{now: noon.Add(11 * s)})...)
			if got := queued(b); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// The notification of several waits has no key of its own before the desktop has shown it: the next one takes the place
// of the first.
func TestOutboxKeepsThePlaceOfAChain(t *testing.T) {
	b := newOutbox()
	b.put(order{key: "2", replaces: "1"}, order{key: "3", replaces: "2"}, order{key: "3", onlyShown: true})
	if o, ok := b.take(); !ok || o.key != "3" || o.replaces != "1" || o.onlyShown || b.len() != 0 {
		t.Errorf("got %+v, and %d more", o, b.len())
	}
}

// A question after another is no reason to disturb the user.
func TestWaitsForAnotherWhileTheUserMustNotBeDisturbed(t *testing.T) {
	twice := question(change("a", adapters.Waiting, adapters.Waiting))
	for name, l := range map[string]look{
		"quiet":   {now: noon.Add(time.Minute), quiet: true},
		"focused": {now: noon.Add(time.Minute), focused: map[string]bool{"a": true}},
	} {
		p := newPolicy(having(func(r *Rules) { r.Kinds = map[Kind]Manner{Question: WithSound} }))
		p.take([]app.Event{change("a", adapters.Working, adapters.Waiting)}, look{now: noon})
		orders := p.take([]app.Event{twice}, l)
		if len(orders) != 1 || !orders[0].onlyShown || orders[0].sound || orders[0].waitingFor != adapters.ForQuestion {
			t.Errorf("%s: %+v", name, orders)
		}
	}
}

// What the user excludes after a wait has begun is not told when it would be due.
func TestDueWaitsThatAreExcludedMeanwhile(t *testing.T) {
	rules := asked()
	rules.RemindAfter, rules.AwayAfter = 10*time.Minute, 10*time.Minute
	p := newPolicy(func() Rules { return rules })
	ask, goesOn := change("a", adapters.Working, adapters.Waiting), change("a", adapters.Waiting, adapters.Working)
	for i, ev := range []app.Event{ask, goesOn, ask, change("b", adapters.Working, adapters.Waiting)} {
		p.take([]app.Event{ev}, look{now: noon.Add(time.Duration(i) * time.Second)})
	}
	rules.Muted = func(folder string) bool { return folder == "/w/a" }
	rules.Kinds = map[Kind]Manner{Permission: Off}
	if got := said(p.tick(&look{now: noon.Add(time.Hour)})); got != "" || len(p.absent) != 0 || !p.next().IsZero() {
		t.Errorf("told %q, away of %d, next %v", got, len(p.absent), p.next())
	}
	rules.Kinds = nil
	if got := said(p.tick(&look{now: noon.Add(time.Hour)})); got != "Still: Codex needs permission in b [b]" || len(p.absent) != 1 {
		t.Errorf("told %q, away of %d", got, len(p.absent))
	}
}

// The next start must not tell of ends that the user excluded.
func TestExcludedEndsAreUnsaid(t *testing.T) {
	rules := having(func(r *Rules) { r.Muted = func(folder string) bool { return folder == "/w/a" } })
	p := newPolicy(rules)
	p.take([]app.Event{ofLaunch(end("a", 5)), child(end("a1", 5), "a")}, look{now: noon})
	if len(p.unsaid) != 1 || p.unsaid[0].Session.ID != "a" {
		t.Errorf("unsaid: %+v", p.unsaid)
	}
	r := rules()
	r.Kinds = map[Kind]Manner{Ended: Off}
	one := 1
	for name, c := range map[string]struct {
		missed Missed
		want   bool
	}{
		"muted":         {Missed{Session: adapters.Session{Place: adapters.Place{CWD: "/w/a"}, State: adapters.State{Outcome: adapters.Failed}}}, false},
		"ended is off":  {Missed{Session: adapters.Session{Place: adapters.Place{CWD: "/w/b"}}}, false},
		"failed":        {Missed{Session: adapters.Session{Place: adapters.Place{CWD: "/w/b"}, State: adapters.State{Outcome: adapters.Failed}}}, true},
		"failed to run": {Missed{Session: adapters.Session{Place: adapters.Place{CWD: "/w/b"}}, ExitCode: &one}, true},
	} {
		if got := r.WantsMissed(&c.missed); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Neither the replies that are over nor the ends that a machine claims of one process grow without limit.
func TestPolicyStaysSmall(t *testing.T) {
	p := newPolicy(asked)
	for i := range 100 {
		id, l := fmt.Sprint("s", i), look{now: noon.Add(time.Duration(i) * time.Hour)}
		p.take([]app.Event{turn(id, time.Hour, adapters.Completed), change(id, adapters.Idle, adapters.Working)}, l)
		ev := end(id, 0)
		ev.MachineProcess = "dev 1"
		p.take([]app.Event{ev}, l)
	}
	if n := len(p.replies); n > 2 {
		t.Errorf("%d replies are kept", n)
	}
	if n := len(p.ends["ended on dev 1"]); n != toldOfOne {
		t.Errorf("%d ends of one process are kept", n)
	}
}
