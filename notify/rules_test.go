package notify

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
)

// asked is what the user set by default, as far as these tests need it.
func asked() Rules {
	return Rules{ReplyAfter: 30 * time.Second, Together: 2 * time.Second, Pause: time.Minute, AwayAfter: -1}
}

func having(change func(*Rules)) func() Rules {
	r := asked()
	change(&r)
	return func() Rules { return r }
}

// turn returns the end of a turn that ran for so long.
func turn(id string, ran time.Duration, outcome adapters.Outcome) app.Event {
	ev := change(id, adapters.Working, adapters.Idle)
	ev.Session.TurnStartedAt, ev.Session.Outcome = noon.Add(-ran), outcome
	return ev
}

func dies(ev app.Event) app.Event {
	ev.Session.Outcome = adapters.Died
	return ev
}

func limited(ev app.Event) app.Event {
	ev.Session.Outcome, ev.Session.Limited = adapters.Failed, true
	return ev
}

// step is what happens at one moment, after noon.
type step struct {
	at      time.Duration
	events  []app.Event
	quiet   bool
	focused string // id of the session that the user sees
	tick    bool
	want    string
}

func at(d time.Duration, want string, events ...app.Event) step {
	return step{at: d, events: events, want: want}
}

func TestRules(t *testing.T) {
	const s = time.Second
	asks := func(id string) app.Event { return change(id, adapters.Working, adapters.Waiting) }
	goesOn := func(id string) app.Event { return change(id, adapters.Waiting, adapters.Working) }
	quiet := func(x step) step { x.quiet = true; return x }
	focus := func(id string, x step) step { x.focused = id; return x }
	tick := func(d time.Duration, want string) step { return step{at: d, tick: true, want: want} }
	off := func(k Kind) func() Rules { return having(func(r *Rules) { r.Kinds = map[Kind]Manner{k: Off} }) }
	const permission, withdrawn = "Codex needs permission in a [a]", "withdraw waiting codex a"
	for name, c := range map[string]struct {
		rules func() Rules
		steps []step
	}{
		"reply after a long turn":           {asked, []step{at(0, "Codex replied in a [a]", turn("a", 31*s, adapters.Completed))}},
		"no reply after a short turn":       {asked, []step{at(0, "", turn("a", 29*s, adapters.Completed))}},
		"no reply after an interrupted one": {asked, []step{at(0, "", turn("a", time.Hour, adapters.Interrupted))}},
		"no reply of a sub-agent":           {asked, []step{at(0, "", child(turn("a", time.Hour, adapters.Completed), "p"))}},
		"a short turn that failed":          {asked, []step{at(0, "Codex failed in a [a]", turn("a", s, adapters.Failed))}},
		"reply is withdrawn": {asked, []step{at(0, "Codex replied in a [a]", turn("a", time.Hour, adapters.Completed)),
			at(s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)), at(2*s, "", change("a", adapters.Idle, adapters.Working))}},
		"reply, then the end": {asked, []step{at(0, "Codex replied in a [a]", turn("a", time.Hour, adapters.Completed)),
			at(3*s, "Codex ended in a [a]; withdraw reply codex a", end("a", 5))}},
		"failures that repeat": {asked, []step{at(0, "Codex failed in a [a]", turn("a", s, adapters.Failed)),
			at(5*s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)), at(6*s, "", turn("a", s, adapters.Failed)),
			at(90*s, "Codex failed in a [a]", turn("a", s, adapters.Failed))}},
		"failures that repeat, then a reply": {asked, []step{at(0, "Codex failed in a [a]", turn("a", s, adapters.Failed)),
			at(5*s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)), at(40*s, "Codex replied in a [a]", turn("a", 35*s, adapters.Completed))}},
		"two replies within the pause": {asked, []step{at(0, "Codex replied in a [a]", turn("a", 31*s, adapters.Completed)),
			at(5*s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)), at(40*s, "Codex replied in a [a]", turn("a", 35*s, adapters.Completed)),
			at(41*s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)), at(42*s, "Codex failed in a [a]", turn("a", s, adapters.Failed))}},
		"replied, goes on and fails at once": {asked, []step{at(0, "Codex replied in a [a]", turn("a", time.Hour, adapters.Completed)),
			at(s, "Codex failed in a [a]", change("a", adapters.Idle, adapters.Working), turn("a", s, adapters.Failed))}},
		"answered, and asks again at once": {asked, []step{at(0, permission, asks("a")), at(11*s, permission, goesOn("a"), asks("a")),
			at(30*s, withdrawn, goesOn("a"))}},
		"no permission": {off(Permission), []step{at(0, "", asks("a")), at(s, "Codex asks you in b [b]", question(asks("b")))}},
		"no question":   {off(Question), []step{at(0, "", question(asks("a")))}},
		"permission, then what is off": {off(Question), []step{at(0, permission, asks("a")),
			at(s, withdrawn, question(change("a", adapters.Waiting, adapters.Waiting))), at(2*s, "", goesOn("a"))}},
		"no reply":  {off(Reply), []step{at(0, "", turn("a", time.Hour, adapters.Completed))}},
		"no failed": {off(Failed), []step{at(0, "", turn("a", s, adapters.Failed)), at(s, "", dies(end("a", 5)))}},
		"a limit": {asked, []step{at(0, "Codex reached a rate limit in a [a]", limited(turn("a", s, adapters.Failed))), at(s, "withdraw reply codex a", change("a", adapters.Idle, adapters.Working)),
			at(30*s, "", limited(turn("a", s, adapters.Failed)))}},
		"no limit": {off(Limit), []step{at(0, "", limited(turn("a", s, adapters.Failed))), at(s, "", limited(end("a", 5))),
			at(2*s, "Codex failed in b [b]", turn("b", s, adapters.Failed))}},
		"no ended": {off(Ended), []step{at(0, "", end("a", 5)), at(s, "Codex ended in b [b]", dies(end("b", 6)))}},
		"muted": {having(func(r *Rules) { r.Muted = func(folder string) bool { return folder == "/w/a" } }), []step{
			at(0, "", asks("a")), at(s, "", goesOn("a")), at(2*s, "", turn("a", time.Hour, adapters.Completed)), at(3*s, "", end("a", 5))}},
		"a muted session": {asked, []step{at(0, "", muted(asks("a"))), at(s, "", muted(goesOn("a"))), at(2*s, "", muted(turn("a", time.Hour, adapters.Completed))),
			at(3*s, "Codex needs permission in b [b]", asks("b")), at(4*s, "", muted(end("a", 5)))}},
		"a muted session after quiet": {asked, []step{quiet(at(0, "", muted(asks("a")))), tick(time.Hour, "")}},
		"two together": {asked, []step{at(0, permission, asks("a")), at(2*s, "2 sessions need you []", asks("b")),
			at(4*s, "3 sessions need you []", asks("c")), at(5*s, "2 sessions need you []", goesOn("b")),
			at(6*s, "Codex needs permission in c [c]", goesOn("a")), at(7*s, "withdraw waiting several 1795262402000000000", goesOn("c"))}},
		"two apart": {asked, []step{at(0, permission, asks("a")), at(2*s+1, "Codex needs permission in b [b]", asks("b")),
			at(9*s, withdrawn, goesOn("a")), at(9*s, "withdraw waiting codex b", goesOn("b"))}},
		"the first is over, the second is told alone": {asked, []step{at(0, permission, asks("a")), at(s, withdrawn, goesOn("a")),
			at(s, "Codex needs permission in b [b]", asks("b"))}},
		"it flaps": {asked, []step{at(0, permission, asks("a")), at(s, withdrawn, goesOn("a")), at(2*s, "", asks("a")), at(3*s, "", goesOn("a")),
			at(4*s, "", asks("a")), tick(59*s, ""), tick(60*s, permission), tick(61*s, ""), at(80*s, withdrawn, goesOn("a"))}},
		"it flaps, and is over": {asked, []step{at(0, permission, asks("a")), at(s, withdrawn, goesOn("a")), at(2*s, "", asks("a")),
			at(3*s, "", goesOn("a")), tick(60*s, "")}},
		"the user answers, it asks again": {asked, []step{at(0, permission, asks("a")), at(11*s, withdrawn, goesOn("a")), at(12*s, permission, asks("a"))}},
		"quiet": {asked, []step{quiet(at(0, "", asks("a"))), quiet(at(s, "", asks("b"), asks("c"), end("d", 5), turn("e", time.Hour, adapters.Completed))),
			quiet(tick(time.Hour, "")), at(2*time.Hour, "", goesOn("c")), tick(2*time.Hour, "2 sessions need you []"), tick(3*time.Hour, "")}},
		"quiet, one is left":                           {asked, []step{quiet(at(0, "", asks("a"))), tick(time.Hour, permission), at(2*time.Hour, withdrawn, goesOn("a"))}},
		"quiet, none is left":                          {asked, []step{quiet(at(0, "", asks("a"))), quiet(at(s, "", goesOn("a"))), tick(time.Hour, "")}},
		"quiet, what was shown stays until it is over": {asked, []step{at(0, permission, asks("a")), quiet(at(11*s, withdrawn, goesOn("a")))}},
		"the user looks": {asked, []step{focus("a", at(0, "", asks("a"))), at(s, "", goesOn("a")), focus("a", at(2*s, "", end("a", 5))),
			focus("a", at(3*s, "Codex needs permission in b [b]", asks("b")))}},
		"a reminder": {having(func(r *Rules) { r.RemindAfter = 10 * time.Minute }), []step{at(0, permission, asks("a")), tick(599*s, ""),
			tick(600*s, "Still: "+permission), tick(20*time.Minute, ""), at(time.Hour, withdrawn, goesOn("a"))}},
		"a reminder of what the user saw": {having(func(r *Rules) { r.RemindAfter = 10 * time.Minute }), []step{focus("a", at(0, "", asks("a"))),
			tick(600*s, "Still: "+permission), at(time.Hour, withdrawn, goesOn("a"))}},
		"no reminder after quiet": {having(func(r *Rules) { r.RemindAfter = 10 * time.Minute }), []step{quiet(at(0, "", asks("a"))),
			tick(time.Hour, permission), tick(2*time.Hour, "")}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolicy(c.rules)
			for i, x := range c.steps {
				l := look{now: noon.Add(x.at), quiet: x.quiet, focused: map[string]bool{x.focused: true}}
				var orders []order
				if x.tick {
					orders = p.tick(&l)
				} else {
					orders = p.take(x.events, l)
				}
				if got := said(orders); got != x.want {
					t.Errorf("step %d:\n got %s\nwant %s", i, got, x.want)
				}
			}
		})
	}
}

func TestSound(t *testing.T) {
	p := newPolicy(having(func(r *Rules) { r.Kinds = map[Kind]Manner{Question: WithSound} }))
	orders := p.take([]app.Event{change("a", adapters.Working, adapters.Waiting)}, look{now: noon})
	orders = append(orders, p.take([]app.Event{question(change("b", adapters.Working, adapters.Waiting))}, look{now: noon})...)
	orders = append(orders, p.take([]app.Event{change("a", adapters.Waiting, adapters.Working)}, look{now: noon})...)
	if len(orders) != 3 || orders[0].sound || !orders[1].sound || orders[2].sound {
		t.Errorf("%+v; want a sound for the question only, and none when its notification is corrected", orders)
	}
	if !orders[2].onlyShown || orders[1].replaces != orders[0].key || len(orders[1].members) != 2 {
		t.Errorf("%+v", orders)
	}
}

// queue is a source of events.
type queue chan app.Event

func (q queue) Next(ctx context.Context) (app.Event, error) {
	select {
	case ev := <-q:
		return ev, nil
	default:
	}
	select {
	case ev := <-q:
		return ev, nil
	case <-ctx.Done():
		return app.Event{}, ctx.Err()
	}
}

// TestClock lets the notifier itself wait for what is due.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		until := time.Now().Add(time.Hour) // of do not disturb
		desktop := true
		var away []string
		n := New(Options{
			Rules:          having(func(r *Rules) { r.AwayAfter = 5 * time.Minute }),
			Quiet:          func() (bool, time.Time) { mu.Lock(); defer mu.Unlock(); return time.Now().Before(until), until },
			DesktopIsQuiet: func(context.Context) bool { mu.Lock(); defer mu.Unlock(); return desktop },
			Away:           func(s app.Session) { mu.Lock(); defer mu.Unlock(); away = append(away, s.ID) },
		})
		events := make(queue, 10)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = n.consume(ctx, events) })
		running.Go(func() { n.keepTime(ctx) })
		defer running.Wait()
		defer cancel()
		took := func() string {
			synctest.Wait()
			var orders []order
			for o, ok := n.box.take(); ok; o, ok = n.box.take() {
				orders = append(orders, o)
			}
			return said(orders)
		}
		events <- change("a", adapters.Working, adapters.Waiting)
		events <- change("b", adapters.Working, adapters.Waiting)
		n.Say("missed", Text{Title: "1 launch ended"}, "", nil)
		time.Sleep(time.Hour)
		if got := took(); got != "" {
			t.Errorf("said %q while the desktop was still quiet", got)
		}
		mu.Lock()
		desktop = false
		mu.Unlock()
		time.Sleep(quietPoll)
		if got := took(); got != "1 launch ended []; 2 sessions need you []" {
			t.Errorf("after do not disturb: %q", got)
		}
		mu.Lock()
		if got := strings.Join(away, " "); got != "a b" && got != "b a" {
			t.Errorf("away for %q", got)
		}
		mu.Unlock()
		time.Sleep(24 * time.Hour)
		if got := took(); got != "" {
			t.Errorf("a day later: %q", got)
		}
		events <- change("c", adapters.Working, adapters.Waiting)
		if got := took(); got != "Codex needs permission in c [c]" {
			t.Errorf("a new wait: %q", got)
		}
		events <- change("c", adapters.Waiting, adapters.Working)
		events <- change("c", adapters.Working, adapters.Waiting)
		if got := took(); got != "withdraw waiting codex c" {
			t.Errorf("it waits again at once: %q", got)
		}
		time.Sleep(time.Minute)
		if got := took(); got != "Codex needs permission in c [c]" {
			t.Errorf("after a minute: %q", got)
		}
	})
}

// A notification of several waits that an earlier process left is withdrawn, corrected or kept.
func TestTakeOverSeveral(t *testing.T) {
	left := wait{member: member{Key: "waiting several 1", Agent: agentname.Codex}, ID: 3, Members: []member{
		{Key: "waiting codex a", Agent: agentname.Codex, Session: "a", WaitingFor: adapters.ForPermission},
		{Key: "waiting codex b", Agent: agentname.Codex, Session: "b", WaitingFor: adapters.ForPermission}}}
	a, b := session("a", adapters.Waiting, 1), session("b", adapters.Waiting, 2)
	for _, tt := range []struct {
		sessions          []app.Session
		want              string
		stands, onlyShown bool
	}{
		{[]app.Session{a, b}, "2 sessions need you []", true, false},
		{[]app.Session{b}, "Codex needs permission in b [b]", false, true},
		{nil, "withdraw waiting several 1", false, false},
	} {
		p := newPolicy(nil)
		orders := p.takeOver(left, tt.sessions, noon)
		if got := said(orders); got != tt.want || orders[0].stands != tt.stands || orders[0].onlyShown != tt.onlyShown {
			t.Errorf("%d wait: %s, %+v", len(tt.sessions), got, orders)
		}
		if len(tt.sessions) > 0 {
			if got := said(p.take([]app.Event{change("b", adapters.Waiting, adapters.Working)}, look{now: noon})); len(tt.sessions) == 1 && got != "withdraw waiting several 1" {
				t.Errorf("then over: %s", got)
			}
		}
	}
}

// A wait that an earlier process told goes on where the first answer does not know what the session does: it is not told again, and withdrawn when it is over.
func TestTakeOverUnknown(t *testing.T) {
	left := wait{member: member{Key: "waiting codex a", Agent: agentname.Codex, Session: "a", WaitingFor: adapters.ForPermission}, ID: 3}
	p := newPolicy(nil)
	if orders := p.takeOver(left, []app.Session{session("a", adapters.Unknown, 1)}, noon); said(orders) != "Codex needs permission in a [a]" || !orders[0].stands {
		t.Errorf("%s, %+v", said(orders), orders)
	}
	if got := said(p.take([]app.Event{change("a", adapters.Unknown, adapters.Waiting)}, look{now: noon})); got != "" {
		t.Errorf("it is told again: %s", got)
	}
	if got := said(p.take([]app.Event{change("a", adapters.Waiting, adapters.Working)}, look{now: noon})); got != "withdraw waiting codex a" {
		t.Errorf("then over: %s", got)
	}
}

// muted makes an event that of a session which the user muted.
func muted(ev app.Event) app.Event {
	ev.Session.Muted, ev.Before.Muted = true, true
	return ev
}
