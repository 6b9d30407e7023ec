package ui

import (
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
)

// TestListStaysInPlace: rows don't change places while their sessions work on,
// and what the user looks at stays where it is.
func TestListStaysInPlace(t *testing.T) {
	sessions := func(order ...int) *app.Snapshot {
		var list []app.Session
		for i, n := range order {
			list = append(list, session(fmt.Sprintf("s%02d", n), adapters.Working, func(s *adapters.Session) {
				s.CWD, s.LastActivityAt = fmt.Sprintf("/p%02d", n), ago(time.Duration(i)*time.Second)
			}))
		}
		return snapshotOf(list...)
	}
	w := open(t, sessions(0, 1, 2, 3))
	before := w.rows()
	w.publish(sessions(3, 1, 0, 2))
	if got := w.rows(); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("the rows changed places:\n%q\n%q", before, got)
	}
	w.publish(sessions(9, 3, 1, 0, 2))
	if got := w.rows(); got[1] != "p09 | working" || fmt.Sprint(got[2:]) != fmt.Sprint(before[1:]) {
		t.Errorf("a new session is not the first, the others as they were: %q", got)
	}
	w.ui.Refresh()
	w.until("the new order", func() bool { return w.rows()[2] == "p03 | working" })
}

// TestViewStaysInPlace: a row that comes in above doesn't move what is in sight.
func TestViewStaysInPlace(t *testing.T) {
	w := open(t, many(300))
	l := w.ui.sessions.list
	w.win.Canvas().Capture()
	l.ScrollToOffset(2000)
	at := func() (string, float32) {
		i := int(l.GetScrollOffset()/rowStep) + 3
		return w.ui.sessions.view.Rows[i].Key.ID, l.GetScrollOffset() - float32(i)*rowStep
	}
	id, y := at()
	more := many(300)
	long := func(s *adapters.Session) { s.LastActivityAt = ago(1000 * time.Hour) } // what waits longest comes first
	more.Own = append([]app.Session{session("new", adapters.Waiting, long), session("new2", adapters.Waiting, long)}, more.Sessions()...)
	w.publish(more)
	if got, gotY := at(); got != id || gotY != y {
		t.Errorf("%s was in sight at %g, now %s at %g", id, y, got, gotY)
	}
	l.ScrollToTop()
	w.publish(many(300))
	w.publish(more)
	if l.GetScrollOffset() != 0 {
		t.Error("what needs the user came in out of sight")
	}
}

// TestFilterStartsAtItsTop: what was scrolled to is not what is looked for, and
// afterwards the selection is in sight.
func TestFilterStartsAtItsTop(t *testing.T) {
	w := open(t, many(300))
	l := w.ui.sessions.list
	w.win.Canvas().Capture()
	l.ScrollToOffset(4000)
	w.filter("day")
	if l.GetScrollOffset() != 0 {
		t.Errorf("what matches begins out of sight: %g", l.GetScrollOffset())
	}
	w.ui.sessions.tapped(200)
	w.filter("")
	if at, y := w.ui.sessions.view.At[w.ui.sessions.selected], l.GetScrollOffset(); float32(at)*rowStep < y || float32(at)*rowStep > y+l.Size().Height {
		t.Errorf("the selected row %d is out of sight at %g", at, y)
	}
}

// TestPlaces: a session keeps its place within its group only.
func TestPlaces(t *testing.T) {
	at := func(id string, status adapters.Status, age time.Duration) app.Session {
		return session(id, status, func(s *adapters.Session) { s.LastActivityAt = ago(age) })
	}
	v := build(snapshotOf(at("a", adapters.Working, 1), at("b", adapters.Working, 2), at("c", adapters.Idle, 3)), listing.Selection{})
	// A slow agent's sessions come in by their age, not on top.
	v = build(snapshotOf(at("b", adapters.Working, 0), at("a", adapters.Working, 1), at("old", adapters.Working, 9), at("c", adapters.Idle, 3)), listing.Selection{Positions: v.Positions})
	if got, want := outline(v), "Working 3+0\n a\n b\n old\nIdle 1+0\n c\n"; got != want {
		t.Errorf("got %q", got)
	}
	v = build(snapshotOf(at("old", adapters.Working, 0), at("b", adapters.Working, 0), at("a", adapters.Idle, 1), at("c", adapters.Idle, 3)), listing.Selection{Positions: v.Positions})
	if got, want := outline(v), "Working 2+0\n b\n old\nIdle 2+0\n a\n c\n"; got != want {
		t.Errorf("got %q", got)
	}
}
