package notify

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
)

func asks(key string) order {
	return order{key: waitingPrefix + "a", ask: &ask{ref: answer.Ref{Session: "a", Key: key}}}
}

// TestClickGuard: each request that a notification begins to show must be seen before a click counts for it, also one that it
// showed earlier.
func TestClickGuard(t *testing.T) {
	none := order{key: waitingPrefix + "a"}
	for name, orders := range map[string][]order{
		"the first":            {asks("1")},
		"another":              {asks("1"), asks("2")},
		"one again":            {asks("1"), asks("2"), asks("1")},
		"after several waits":  {asks("1"), none, asks("1")},
		"after none was known": {none, asks("1")},
	} {
		synctest.Test(t, func(t *testing.T) {
			var c click
			for _, o := range orders {
				time.Sleep(time.Minute)
				c = clickOf(o, c)
			}
			if !c.askedAt.Equal(time.Now()) {
				t.Errorf("%s: shown since %s, not %s", name, c.askedAt, time.Now())
			}
			time.Sleep(time.Minute)
			if same := clickOf(orders[len(orders)-1], c); !same.askedAt.Equal(c.askedAt) {
				t.Errorf("%s: a reminder delays the answer", name)
			}
		})
	}
	before := clickOf(asks("1"), click{})
	for _, o := range []order{none, asks("2")} {
		if c := clickOf(o, before); c.refs["1"].Session != "a" {
			t.Errorf("a click that is on its way is taken for one of an earlier run: %+v", c.refs)
		}
	}
}

// askBoard has a request of each session.
type askBoard struct{ Board }

func (askBoard) Of(_ adapters.Name, id string) (answer.Entry, bool) {
	e := answer.Entry{Read: true}
	e.Session, e.Requests = session(id, adapters.Waiting, 1), []answer.Request{{Key: id}}
	return e, id != "parent"
}

// TestAskOfSeveral: of the sessions of one wait, the same one is always shown.
func TestAskOfSeveral(t *testing.T) {
	p := newPolicy(nil)
	p.board = askBoard{}
	w := &openWait{session: session("parent", adapters.Waiting, 1), sessions: map[string]adapters.WaitingFor{}}
	ids := []string{"parent", "d", "b", "c", "e"}
	for _, id := range slices.Backward(ids) {
		w.sessions[id] = adapters.ForPermission
	}
	for range 50 {
		if a := p.ask(w); a == nil || a.ref.Key != "b" {
			t.Fatalf("shows %+v", a)
		}
	}
	w.session = app.Session{Session: adapters.Session{ID: "d"}}
	if a := p.ask(w); a.ref.Key != "d" {
		t.Errorf("shows %+v, not that of the session that it names", a)
	}
}
