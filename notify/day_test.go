package notify

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// TestDay lets sessions wait, be answered, reply, fail and end for a day, while the user changes the settings, mutes folders,
// looks at sessions and does not want to be disturbed. An oracle that knows the rules, and nothing of how they are kept,
// compares what is on the screen after each of the events.
func TestDay(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDay(t, seed)
				for range 500 {
					d.step()
				}
				d.allEnd()
			})
		})
	}
}

// day is a day of one user.
type day struct {
	*testing.T
	n        *Notifier
	rand     *rand.Rand
	events   queue
	changed  chan struct{}
	sessions []*actor
	orders   chan timedOrder
	screen   map[string]order // notifications, by key
	history  []string

	mu    sync.Mutex // guards what the notifier asks for
	rules Rules
	muted map[string]bool // folders
	until time.Time       // do not disturb
	focus string          // id of the session that the user sees
}

// actor is one session, with what the user must have been told of it.
type actor struct {
	app.Session
	pid   int
	began time.Time // of the turn

	wait        *expectedWait // nil: it does not wait
	waited      lastWait      // the wait before
	failure     time.Time     // when the user was told of a failed turn that nothing else followed
	replied     bool          // a reply or failure is on the screen
	repliedAt   time.Time
	repliedWith Kind
	ended       int // notifications of the end of its process
}

// expectedWait is what the rules say of a wait.
type expectedWait struct {
	begun    time.Time
	told     time.Time // zero: not yet
	tells    int
	reminded bool
	seen     bool      // the user looked at its session when a notification was due
	unwanted bool      // the settings left it out when it began
	due      time.Time // not before this; zero: at once
}

func newDay(t *testing.T, seed uint64) *day {
	d := &day{T: t, rand: rand.New(rand.NewPCG(seed, 1)), events: make(queue, 100), changed: make(chan struct{}, 1),
		orders: make(chan timedOrder, 100), screen: map[string]order{}, muted: map[string]bool{}, rules: asked()}
	d.rules.Kinds = map[Kind]Manner{}
	locked := func(f func()) { d.mu.Lock(); defer d.mu.Unlock(); f() }
	d.rules.Muted = func(folder string) bool { return d.muted[folder] }
	d.n = New(Options{
		Rules: func() (r Rules) {
			locked(func() {
				r = d.rules
				r.Kinds = maps.Clone(d.rules.Kinds)
				muted := maps.Clone(d.muted)
				r.Muted = func(folder string) bool { return muted[folder] }
			})
			return r
		},
		Quiet: func() (quiet bool, until time.Time) {
			locked(func() { quiet, until = time.Now().Before(d.until), d.until })
			return
		},
		HasFocus: func(_ context.Context, s *app.Session) (has bool) {
			locked(func() { has = d.focus == s.ID })
			return has
		},
		Changed: d.changed,
	})
	for i := range 6 {
		a := &actor{Session: session(fmt.Sprint("s", i), adapters.Idle, 100+i), pid: 100 + i}
		a.Title = "a task"
		d.sessions = append(d.sessions, a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = d.n.consume(ctx, d.events) })
	running.Go(func() { d.n.keepTime(ctx) })
	running.Go(func() { d.collect(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return d
}

// timedOrder is an order with the time at which it was given.
type timedOrder struct {
	order
	at time.Time
}

// collect takes the orders when they are given.
func (d *day) collect(ctx context.Context) {
	for {
		select {
		case <-d.n.box.signal:
		case <-ctx.Done():
			return
		}
		for o, ok := d.n.box.take(); ok; o, ok = d.n.box.take() {
			d.n.box.done()
			d.orders <- timedOrder{o, time.Now()}
		}
	}
}

// fail reports what is wrong, with what happened before.
func (d *day) fail(format string, args ...any) {
	d.Helper()
	d.Fatalf("%s: %s\nbefore:\n%s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...),
		strings.Join(d.history[max(0, len(d.history)-25):], "\n"))
}

func (d *day) note(format string, args ...any) {
	d.history = append(d.history, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// step lets some time pass and one thing happen.
func (d *day) step() {
	pause := time.Duration(d.rand.IntN(3000)) * time.Millisecond
	if d.rand.IntN(3) == 0 {
		pause = time.Duration(d.rand.IntN(400)) * time.Second
	}
	time.Sleep(pause)
	d.settle()
	if d.rand.IntN(6) == 0 {
		d.userActs()
	} else {
		d.agentActs(d.sessions[d.rand.IntN(len(d.sessions))])
	}
	d.settle()
}

// userActs changes a setting, or what the user does.
func (d *day) userActs() {
	d.mu.Lock()
	kinds := []Kind{Permission, Question, Reply, Failed, Ended}
	var unsettled bool // what is wanted of waits that are open has changed
	switch d.rand.IntN(7) {
	case 0:
		k := kinds[d.rand.IntN(len(kinds))]
		d.rules.Kinds[k] = []Manner{"", WithSound, Off}[d.rand.IntN(3)]
		d.note("setting %s %q", k, d.rules.Kinds[k])
		unsettled = true
	case 1:
		folder := d.sessions[d.rand.IntN(len(d.sessions))].CWD
		d.muted[folder] = !d.muted[folder]
		d.note("muted %s %v", folder, d.muted[folder])
		unsettled = true
	case 2:
		d.rules.Together = []time.Duration{0, 2 * time.Second}[d.rand.IntN(2)]
		d.note("together %s", d.rules.Together)
	case 3:
		d.rules.RemindAfter = []time.Duration{0, 5 * time.Minute}[d.rand.IntN(2)]
		d.note("remind after %s", d.rules.RemindAfter)
	case 4:
		d.until = time.Now().Add([]time.Duration{0, 10 * time.Minute}[d.rand.IntN(2)])
		d.note("do not disturb until %s", d.until.Format("15:04:05"))
	default:
		d.focus = ""
		if d.rand.IntN(2) == 0 {
			d.focus = d.sessions[d.rand.IntN(len(d.sessions))].ID
		}
		d.note("looks at %q", d.focus)
	}
	if unsettled {
		for _, a := range d.sessions {
			if a.wait != nil && !d.wants(a, waitKind(&a.Session)) {
				a.wait.unwanted = true
			}
		}
	}
	d.mu.Unlock()
	d.changed <- struct{}{}
}

// agentActs lets a session do what it can do now.
func (d *day) agentActs(a *actor) {
	before := a.Session
	ev := app.Event{Kind: app.Changed, At: time.Now(), Before: before}
	switch {
	case a.Status == adapters.Stopped:
		a.pid += 100
		a.Session = session(a.ID, adapters.Working, a.pid)
		a.Title = "a task"
		a.began = time.Now()
		a.ended = 0
		ev.Kind = app.Started
	case d.rand.IntN(8) == 0:
		a.Session = session(a.ID, adapters.Stopped, 0)
		a.Title, a.Outcome = "a task", []adapters.Outcome{adapters.Completed, adapters.Died}[d.rand.IntN(2)]
		ev.Kind, ev.Process = app.Ended, before.Process
	case a.Status == adapters.Idle:
		a.Status = adapters.Working
		a.began = time.Now()
		a.Outcome = ""
	case a.Status == adapters.Waiting && d.rand.IntN(5) == 0:
		a.WaitingFor = map[adapters.WaitingFor]adapters.WaitingFor{adapters.ForPermission: adapters.ForQuestion, adapters.ForQuestion: adapters.ForPermission}[a.WaitingFor]
	case a.Status == adapters.Waiting:
		a.Status, a.WaitingFor = adapters.Working, ""
	case d.rand.IntN(2) == 0:
		a.Status, a.WaitingFor = adapters.Waiting, []adapters.WaitingFor{adapters.ForPermission, adapters.ForQuestion}[d.rand.IntN(2)]
	default:
		a.Status, a.Outcome = adapters.Idle, []adapters.Outcome{adapters.Completed, adapters.Completed, adapters.Failed, adapters.Interrupted}[d.rand.IntN(4)]
	}
	a.TurnStartedAt = a.began
	ev.Session = a.Session
	d.note("%s: %s %s %s %s", a.ID, ev.Kind, a.Status, a.WaitingFor, a.Outcome)
	expect := d.expect(a, &ev)
	d.events <- ev
	d.settle()
	expect()
}

// wants reports whether the settings want notifications of this kind for a session.
func (d *day) wants(a *actor, k Kind) bool { return d.rules.Kinds[k] != Off && !d.muted[a.CWD] }

func (d *day) isQuiet() bool { return time.Now().Before(d.until) }

// expect updates what the user must be told because of an event. The function that it returns compares what can be compared
// once the event was handled.
func (d *day) expect(a *actor, ev *app.Event) func() {
	now := time.Now()
	may := !d.isQuiet() && d.focus != a.ID
	d.expectWait(a, ev, now)
	inTurn := ev.Before.Status == adapters.Working || ev.Before.Status == adapters.Waiting
	replies, single := false, false
	switch {
	case ev.Kind == app.Ended && a.replied && now.Sub(a.repliedAt) < oneShot && (a.repliedWith == endKind(&a.State) || a.repliedWith == Reply && endKind(&a.State) == Ended):
		single = true // its turn and its process are one thing
	case ev.Kind == app.Ended:
		a.replied, a.failure = false, time.Time{}
	case ev.Kind == app.Changed && inTurn && a.Status == adapters.Idle && a.Outcome != adapters.Interrupted:
		kind, due := Reply, now.Sub(a.began) >= d.rules.ReplyAfter
		if a.Outcome == adapters.Failed {
			kind, due = Failed, a.failure.IsZero() || now.Sub(a.failure) >= d.rules.Pause
		}
		replies = due && may && d.wants(a, kind)
		if replies {
			a.failure = (time.Time{})
			if kind == Failed {
				a.failure = now
			}
			a.replied = true
			a.repliedAt = now
			a.repliedWith = kind
		}
	case a.Status == adapters.Working || a.Status == adapters.Waiting:
		a.replied = false
	}
	ends := 0
	if ev.Kind == app.Ended && !single && may && d.wants(a, endKind(&adapters.State{Outcome: a.Outcome})) {
		ends = 1
	}
	return func() {
		d.Helper()
		if _, shown := d.screen["reply codex "+a.ID]; shown != a.replied {
			d.fail("reply of %s on the screen: %v, want %v", a.ID, shown, a.replied)
		}
		if ev.Kind == app.Ended && a.ended != ends {
			d.fail("the end of %s was told %d times, want %d", a.ID, a.ended, ends)
		}
	}
}

// expectWait updates what the user must be told of the wait of a session.
func (d *day) expectWait(a *actor, ev *app.Event, now time.Time) {
	waits := ev.Kind != app.Ended && a.Status == adapters.Waiting
	if !waits || a.wait != nil && !d.wants(a, waitKind(&a.Session)) {
		if w := a.wait; w != nil && !w.told.IsZero() {
			a.waited = lastWait{told: w.told, brief: now.Sub(w.told) < quick}
		}
		a.wait = nil
		if !waits {
			return
		}
	}
	old := a.wait
	if old != nil && old.told.IsZero() || old == nil {
		a.wait = &expectedWait{}
	}
	w := a.wait
	w.begun, w.reminded = now, false
	if !w.told.IsZero() {
		return // its notification changes
	}
	w.unwanted, w.seen = !d.wants(a, waitKind(&a.Session)), !d.isQuiet() && d.focus == a.ID
	if a.waited.brief && now.Sub(a.waited.told) < d.rules.Pause {
		w.due = a.waited.told.Add(d.rules.Pause)
	}
}

// settle lets the notifier do what is due, and compares the screen with what the user must have been told.
func (d *day) settle() {
	d.Helper()
	synctest.Wait()
	for len(d.orders) > 0 {
		d.show(<-d.orders)
	}
	shown := map[string]string{}
	for key, o := range d.screen {
		if !strings.HasPrefix(key, waitingPrefix) {
			continue
		}
		for _, id := range idsOf(o) {
			if other := shown[id]; other != "" {
				d.fail("%s is in the notifications %s and %s", id, other, key)
			}
			shown[id] = key
			if a := d.actor(id); a.wait == nil {
				d.fail("%s is on the screen and does not wait", id)
			}
		}
	}
	for _, a := range d.sessions {
		w := a.wait
		if w != nil && w.told.IsZero() && !d.isQuiet() && !time.Now().Before(w.due) && d.focus == a.ID {
			w.seen = true // when it was due
		}
		owed := w != nil && !w.seen && !w.unwanted && !d.isQuiet() && !time.Now().Before(w.due) && d.wants(a, waitKind(&a.Session))
		if owed && shown[a.ID] == "" {
			d.fail("%s waits for %s since %s and is not on the screen", a.ID, a.WaitingFor, w.begun.Format("15:04:05"))
		}
	}
}

func (d *day) actor(id string) *actor {
	return d.sessions[slices.IndexFunc(d.sessions, func(a *actor) bool { return a.ID == id })]
}

// idsOf returns the sessions that a notification of waits names.
func idsOf(o order) (ids []string) {
	for _, m := range o.members {
		ids = append(ids, m.Session)
	}
	if ids == nil {
		ids = []string{o.session}
	}
	return ids
}

// show carries out one order, and checks that the user may be told now.
func (d *day) show(timed timedOrder) {
	d.Helper()
	o, quiet := timed.order, timed.at.Before(d.until)
	d.note("    order %s withdraw=%v replaces=%q sound=%v: %s", o.key, o.withdraw, o.replaces, o.sound, o.text.Title)
	before, there := d.screen[o.key]
	if o.replaces != "" {
		before, there = d.screen[o.replaces]
		delete(d.screen, o.replaces)
	}
	if o.withdraw {
		delete(d.screen, o.key)
		return
	}
	d.screen[o.key] = o
	for i := range o.ended {
		a := d.actor(o.ended[i].Session.ID)
		if a.ended++; quiet {
			d.fail("the end of %s is told while the user must not be disturbed", a.ID)
		}
	}
	if !strings.HasPrefix(o.key, waitingPrefix) {
		return
	}
	reminds := strings.HasPrefix(o.text.Title, reminder)
	if o.onlyShown && (o.sound || !there) {
		d.fail("a correction of %s has a sound (%v), or corrects nothing (%v)", o.key, o.sound, !there)
	}
	if !o.onlyShown && quiet {
		d.fail("%s is told while the user must not be disturbed", o.key)
	}
	for _, id := range idsOf(o) {
		a := d.actor(id)
		if a.wait == nil {
			d.fail("%s is told and does not wait", id)
		}
		if !there || !slices.Contains(idsOf(before), id) {
			d.tell(a, reminds, timed.at)
		}
	}
	if reminds {
		d.remind(idsOf(o))
	}
}

// tell counts that the user is told of a wait.
func (d *day) tell(a *actor, reminds bool, now time.Time) {
	d.Helper()
	w := a.wait
	switch w.tells++; {
	case w.tells > 1:
		d.fail("the wait of %s is told %d times", a.ID, w.tells)
	case !d.wants(a, waitKind(&a.Session)):
		d.fail("the wait of %s is told against the settings", a.ID)
	case d.focus == a.ID, w.seen && !reminds:
		d.fail("the wait of %s is told although the user saw it", a.ID)
	case now.Before(w.due):
		d.fail("the wait of %s is told within the pause", a.ID)
	}
	w.told = now
}

// remind counts that the user is reminded of waits that share a notification: it is about one at least of which the user was
// not reminded before.
func (d *day) remind(ids []string) {
	d.Helper()
	if d.rules.RemindAfter == 0 {
		d.fail("a reminder of %v, against the settings", ids)
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return !d.actor(id).wait.reminded }) {
		d.fail("another reminder of %v", ids)
	}
	for _, id := range ids {
		d.actor(id).wait.reminded = true
	}
}

// allEnd ends all sessions: nothing of a wait or a reply stays on the screen.
func (d *day) allEnd() {
	for _, a := range d.sessions {
		if a.Status == adapters.Stopped {
			continue
		}
		ev := app.Event{Kind: app.Ended, At: time.Now(), Before: a.Session, Process: a.Process}
		a.Session = session(a.ID, adapters.Stopped, 0)
		a.Title, a.Outcome = "a task", adapters.Completed
		ev.Session = a.Session
		expect := d.expect(a, &ev)
		d.events <- ev
		d.settle()
		expect()
	}
	for key := range d.screen {
		if !strings.HasPrefix(key, "ended ") {
			d.fail("%s stays on the screen", key)
		}
	}
}
