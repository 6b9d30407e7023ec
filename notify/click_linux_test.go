package notify

import (
	"context"
	"slices"
	"strings"
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

// TestClickTooEarly: a click answers only once its notification has shown the request for a moment: the pointer may have been on its way to another one.
func TestClickTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := 0
		n := New(Options{Answer: func(context.Context, answer.Ref, adapters.Decision) error { answered++; return nil }})
		c := clickOf(asks("1"), click{})
		time.Sleep(answer.VisibleFor - time.Nanosecond)
		n.act(c, actAllow+"1")
		if o, ok := n.box.take(); !ok || answered != 0 || o.text.Title != "Nothing was answered" || !strings.Contains(o.text.Body, "had only just begun to show the request") {
			t.Errorf("answered %d, told %+v", answered, o.text)
		}
		time.Sleep(time.Nanosecond)
		n.act(c, actAllow+"1")
		if o, ok := n.box.take(); ok || answered != 1 {
			t.Errorf("answered %d, told %+v", answered, o.text)
		}
	})
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
