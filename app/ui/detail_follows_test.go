package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
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
	w.ui.showScope(listing.ScopeOf(listing.GroupOf(adapters.Working)))
	w.until("the scope", func() bool { return w.ui.sessions.view.Scope == listing.ScopeOf(listing.GroupOf(adapters.Working)) })
	follows(w, "b")
	w.shoot("follows-scope")
	w.ui.showScope(listing.AllGroups)
	w.until("all", func() bool { return w.ui.sessions.view.Scope == listing.AllGroups })
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
	w.ui.showScope(listing.ScopeOf(listing.GroupOf(adapters.Working)))
	w.until("the scope", func() bool { return len(w.ui.sessions.view.Rows) == 2 })
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

// TestDetailNeverShowsWhatTheListLacks walks at random through scopes, filters, sessions that come, change and go, and whatever chooses one, and looks after each
// step whether the details offer to stop a session that the list does not have.
func TestDetailNeverShowsWhatTheListLacks(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 1))
		some := func() *app.Snapshot {
			var sessions []app.Session
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				if random.IntN(4) > 0 {
					status := []adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Stopped}[random.IntN(4)]
					x := session(id, status, func(s *adapters.Session) { s.Title = "Title of " + id })
					x.Hidden = random.IntN(5) == 0
					sessions = append(sessions, x)
				}
			}
			return snapshotOf(sessions...)
		}
		w := open(t, some())
		p := w.ui.sessions
		for step := range 60 {
			id := string(rune('a' + random.IntN(5)))
			did := ""
			switch random.IntN(7) {
			case 0:
				did = "another snapshot"
				w.publish(some())
			case 1:
				s := listing.Scopes[random.IntN(len(listing.Scopes))]
				did = fmt.Sprint("scope ", s)
				w.ui.showScope(s)
			case 2:
				did = "filter"
				p.filter.SetText([]string{"", "Title of " + id, "nothing has this"}[random.IntN(3)])
			case 3:
				did = "show " + id
				w.ui.Show(id)
			case 4:
				did = "show the request of " + id
				w.ui.ShowRequest(id)
			case 5:
				did = "arrows"
				p.list.TypedKey(&fyne.KeyEvent{Name: []fyne.KeyName{fyne.KeyDown, fyne.KeyUp, fyne.KeyHome, fyne.KeyEnd}[random.IntN(4)]})
			case 6:
				did = "a click"
				p.tapped(random.IntN(6))
			}
			shown := p.source
			w.ui.feed.Sort()
			w.until("the list", func() bool { return p.source != shown })
			stops := slices.Contains(shownTexts(p.detail.content), "Stop…")
			if _, listed := p.selectedRow(); stops && !listed {
				t.Fatalf("seed %d, step %d, %s: the details are those of %v, which the list %q lacks", seed, step, did, p.detail.session.ID, w.rows())
			}
		}
	}
}
