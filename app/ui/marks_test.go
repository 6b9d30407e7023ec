package ui

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/owned/marks"
	"rollcall/internal/agentname"
)

// TestMarks: the menu of a session names, pins and hides it; not one without a session, or of another machine.
func TestMarks(t *testing.T) {
	m := marks.In(t.TempDir())
	w := openWith(t, &fakeCore{snapshot: snapshotOf(session("a", adapters.Idle, nil))}, Options{Agents: usualAgents(), Marks: m})
	d := w.ui.sessions.detail
	of := func() app.Mark {
		all, err := m.Of(agentname.ClaudeCode)
		if err != nil {
			t.Error(err)
		}
		return all["a"]
	}
	do := func(label string, done func(app.Mark) bool) {
		t.Helper()
		for _, item := range w.ui.markItems(d.session) {
			if item.Label == label {
				item.Action()
				w.until(label, func() bool { return done(of()) })
				return
			}
		}
		t.Errorf("there is no %q", label)
	}
	do("Pin", func(m app.Mark) bool { return m.Pinned })
	do("Hide", func(m app.Mark) bool { return m.Hidden })
	w.until("the line", func() bool { return w.ui.sessions.notice != "" })
	shows(t, w.ui.content, "” is hidden.")
	tap(t, w.ui.content, "Undo")
	w.until("taken back", func() bool { return !of().Hidden && of().Pinned && w.ui.sessions.notice == "" })
	for label, until := range map[string]time.Duration{"Snooze for 1 hour": time.Hour, "Snooze until it changes": 0} {
		do(label, func(m app.Mark) bool {
			return m.Snooze.Status == adapters.Idle && (until == 0 && m.Snooze.Until.IsZero() || until > 0 && m.Snooze.Until.Equal(m.Snooze.Since.Add(until)))
		})
		w.until("the line", func() bool { return strings.Contains(w.ui.sessions.notice, "is snoozed") })
		tap(t, w.ui.content, "Undo")
		w.until("taken back", func() bool { return of() == app.Mark{Pinned: true} })
	}
	do("Mute", func(m app.Mark) bool { return m.Muted })
	d.session.Muted = true
	do("Unmute", func(m app.Mark) bool { return !m.Muted })
	d.session.Muted = false
	do("Hide", func(m app.Mark) bool { return m.Hidden })
	w.ui.showRename(*d.session)
	typeInto(t, w.ui.host.Sheet.Popup, "rollcall", "Ship the parser")
	w.shoot("rename")
	tap(t, w.ui.host.Sheet.Popup, "Rename")
	w.until("the name", func() bool {
		return of() == app.Mark{Name: "Ship the parser", Pinned: true, Hidden: true} && w.ui.host.Sheet == nil
	})
	named := session("a", adapters.Idle, func(s *adapters.Session) { s.Name, s.Doing = "Ship the parser", "go test" })
	named.Pinned = true
	w.publish(snapshotOf(named))
	shows(t, w.ui.content, "Ship the parser", "Claude Code · Ship the parser · go test", "pinned · 3 s")
	do("Unpin", func(m app.Mark) bool { return !m.Pinned })
	for _, s := range []app.Session{{Machine: "devbox"}, {Launch: &app.Launch{Unlisted: true}}} {
		if items := w.ui.markItems(&s); items != nil {
			t.Errorf("%v offers %d items", s, len(items))
		}
	}
}

// TestFoldByKeys: the row of what was put away is unfolded by Enter, and says what it is.
func TestFoldByKeys(t *testing.T) {
	put := session("put", adapters.Stopped, func(s *adapters.Session) { s.Archived, s.Title = true, "An old one" })
	w := open(t, snapshotOf(session("a", adapters.Idle, nil), put))
	l := w.ui.sessions.list
	w.ui.host.Focus(l)
	w.press(l, fyne.KeyEnd)
	shows(t, w.ui.content, "1 archived or hidden", "Click the row, or press Enter or →")
	w.press(l, fyne.KeyReturn)
	w.until("the session", func() bool {
		_, ok := w.ui.sessions.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "put"}]
		return ok
	})
	w.shoot("put-away")
	w.press(l, fyne.KeyLeft)
	w.until("the fold", func() bool {
		_, ok := w.ui.sessions.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "put"}]
		return !ok
	})
	w.ui.Show("put")
	w.until("the session", func() bool { return w.ui.sessions.detail.session != nil && w.ui.sessions.detail.session.ID == "put" })
	shows(t, w.ui.sessions.detail.content, "An old one")
}

// TestPutAwayIsListed: what was hidden or snoozed is folded in its group, and listed while it needs the user.
func TestPutAwayIsListed(t *testing.T) {
	hidden := session("hidden", adapters.Idle, func(s *adapters.Session) { s.Title = "A hidden one" })
	hidden.Hidden, hidden.Muted = true, true
	snoozed := session("snoozed", adapters.Idle, func(s *adapters.Session) { s.Title = "A snoozed one" })
	snoozed.Snoozed = true
	w := openWith(t, &fakeCore{snapshot: snapshotOf(session("a", adapters.Idle, nil), hidden, snoozed)}, Options{Agents: usualAgents(), Marks: marks.In(t.TempDir())})
	shows(t, w.ui.content, "Hidden (2)")
	w.ui.putAway(&hidden, "hidden", func(*app.Mark) error { return nil })
	w.until("the line", func() bool { return w.ui.sessions.notice != "" })
	w.shoot("hidden")
	w.ui.Show("snoozed")
	w.until("the session", func() bool {
		_, ok := w.ui.sessions.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "snoozed"}]
		return ok
	})
	shows(t, w.ui.content, "snoozed · 3 s", "muted · 3 s")
	w.shoot("hidden-unfolded")
	hidden.Status, hidden.WaitingFor = adapters.Waiting, adapters.ForPermission
	w.publish(snapshotOf(hidden, snoozed))
	shows(t, w.ui.content, "Hidden (1)", "Needs you")
	if items := w.ui.awayItems(&hidden); len(items) != 1 {
		t.Errorf("a session that needs the user has %d items", len(items))
	}
}
