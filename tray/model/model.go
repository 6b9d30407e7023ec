// Package model decides what the tray shows: a pure function from a snapshot
// and the time to the rows of the menu, the tooltip and the icon's state. It
// knows no platform; labels are plain text, to be escaped by whoever shows them.
package model

import (
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/assets"
)

// The menu's bounds. The pool of rows that a platform creates once is sized by
// them.
const (
	MaxSessions = 15 // rows for sessions
	MaxAdapters = 6  // rows for adapters that have something to say
	width       = 64 // cells of a row
)

// Kind says what a row stands for.
type Kind int

// The kinds of rows.
const (
	Message Kind = iota // says something, can't be chosen
	Session             // a session; choosing it opens the window there
	More                // "7 more…"; choosing it opens the window
	Adapter             // what an adapter could not answer; choosing it opens the window
)

// Row is one line of the menu.
type Row struct {
	Kind    Kind
	Text    string // without the age, which changes while nothing else does
	Age     string // "5 m"; empty when it isn't known
	Session string // id, for Kind Session
}

// Label is the whole line, as plain text.
func (r Row) Label() string {
	if r.Age == "" {
		return r.Text
	}
	return r.Text + separator + r.Age
}

// Menu is what the tray shows of a snapshot.
type Menu struct {
	Rows    []Row // above "Open Rollcall"; never empty
	Tooltip string
	Icon    assets.State
	// Count is how many sessions need the user.
	Count int
}

// Build makes the menu for what snapshot says at now.
func Build(snapshot *app.Snapshot, now time.Time) Menu {
	shown, counts := order(snapshot.Sessions)
	troubles := troubles(snapshot)
	empty := ""
	if len(shown) == 0 {
		empty = emptyText(snapshot, troubles)
	}

	var rows []Row
	if empty != "" {
		rows = append(rows, Row{Kind: Message, Text: empty})
	}
	for i := range shown[:min(len(shown), MaxSessions)] {
		rows = append(rows, sessionRow(shown[i], now))
	}
	if hidden := len(shown) - MaxSessions; hidden > 0 {
		rows = append(rows, moreRow(hidden, shown[MaxSessions:]))
	}
	for _, t := range troubles[:min(len(troubles), MaxAdapters)] {
		if t.failed || empty == "" {
			rows = append(rows, Row{Kind: Adapter, Text: t.text})
		}
	}
	return Menu{
		Rows:    rows,
		Tooltip: tooltip(counts, troubles, empty),
		Icon:    icon(counts, troubles),
		Count:   counts.waiting,
	}
}

// emptyText says why there is no session: "No agents at work" is said only when
// every adapter has answered.
func emptyText(snapshot *app.Snapshot, troubles []trouble) string {
	if snapshot.At.IsZero() && len(snapshot.Adapters) == 0 {
		return loading
	}
	text := "No agents at work"
	for _, t := range troubles {
		switch {
		case !t.failed:
			return loading
		case t.lost:
			text = "No agents seen at work"
		}
	}
	return text
}

const loading = "Calling the roll…"

// icon: what the user must do comes first, then a hole in the picture, then who
// works. An adapter that answered in part hides nobody, so it doesn't hide
// those who work either.
func icon(c counts, troubles []trouble) assets.State {
	lost, partly := false, false
	for _, t := range troubles {
		lost = lost || t.lost
		partly = partly || t.failed
	}
	switch {
	case c.waiting > 0:
		return assets.NeedsYou
	case lost:
		return assets.Trouble
	case c.working > 0:
		return assets.Working
	case partly:
		return assets.Trouble
	}
	return assets.Quiet
}

// shows says whether a session belongs into the menu. A sub-agent doesn't,
// unless it waits for the user: nothing else would tell of it here.
func shows(s *app.Session) bool {
	return s.Live() && (s.Parent == "" || s.Status == adapters.Waiting)
}
