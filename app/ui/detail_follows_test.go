package ui

import (
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
)

// TestDetailFollowsTheList: the details never offer a stop of a session that the list does not have.
func TestDetailFollowsTheList(t *testing.T) {
	snap := snapshotOf()
	for _, s := range []struct {
		id     string
		status adapters.Status
	}{{"a", adapters.Waiting}, {"b", adapters.Working}, {"c", adapters.Idle}} {
		snap.Own = append(snap.Own, session(s.id, s.status, func(x *adapters.Session) { x.Title = "Title of " + s.id }))
	}
	w := open(t, snap)
	follows := func(w *window, want string) {
		t.Helper()
		d := w.ui.sessions.detail
		stops := slices.Contains(shownTexts(d.content), "Stop…")
		if got := d.session; want == "" && (got != nil || stops) || want != "" && (got == nil || got.ID != want || !stops) {
			t.Errorf("want %q: the details are those of %v, stop: %v\n%s", want, got, stops, strings.Join(shownTexts(d.content), "\n"))
		}
	}
	follows(w, "a")
	w.ui.showScope(scopeOf(groupOf(adapters.Working)))
	w.until("the scope", func() bool { return w.ui.sessions.view.scope == scopeOf(groupOf(adapters.Working)) })
	follows(w, "b")
	w.shoot("follows-scope")
	w.ui.showScope(allGroups)
	w.until("all", func() bool { return w.ui.sessions.view.scope == allGroups })
	w.ui.Show("c")
	follows(w, "c")
	w.filter("nothing has this")
	follows(w, "")
	w.shoot("follows-filter")
	w.filter("Title of b")
	follows(w, "b")
	w.filter("")
	follows(w, "b")

	// What the user reads goes from the list by itself: the place stays, with a way to it.
	w.ui.showScope(scopeOf(groupOf(adapters.Working)))
	w.until("the scope", func() bool { return len(w.ui.sessions.view.rows) == 2 })
	w.ui.sessions.list.OnSelected(1)
	follows(w, "b")
	over := snapshotOf(session("b", adapters.Idle, func(s *adapters.Session) { s.Title = "Title of b" }), session("d", adapters.Working, nil))
	w.publish(over)
	follows(w, "")
	shows(t, w.ui.sessions.detail.content, "Not in this list", "“Title of b”: idle.")
	w.shoot("follows-left")
	tap(t, w.ui.sessions.detail.content, "Show it")
	w.until("it", func() bool { return w.ui.sessions.detail.session != nil })
	follows(w, "b")
}
