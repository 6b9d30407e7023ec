// Package model computes the contents of the tray from a snapshot and the time: the rows of the menu, the tooltip and the
// icon's state. It does not depend on the platform. Labels are plain text; the platform must escape them.
package model

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/assets"
)

// The limits of the menu. A platform creates this number of rows once.
const (
	MaxSessions = 15 // rows for sessions
	MaxAdapters = 6  // rows for adapters that failed or have not answered yet
	MaxEnded    = 5  // rows for sessions that ended
	MaxOwn      = 2  // rows for the reasons why Rollcall cannot write its own files
	width       = 64 // width of a row in cells
)

// Kind is the kind of a row.
type Kind int

// The kinds of rows.
const (
	Message Kind = iota // a text that cannot be chosen
	Session             // a session; a click shows the session in the window
	More                // "7 more…"; a click opens the window
	Adapter             // a trouble; a click opens the window
	Limit               // a usage limit; a click opens the window
)

// Row is one line of the menu.
type Row struct {
	Kind    Kind
	Text    string // does not contain the age, which changes with the time
	Age     string // "5 m"; empty if it is not known
	Session string // id of the session, for Kind Session
	Here    bool   // the session has a process on this machine
	Waits   bool   // a click shows the session's request
}

// Label returns the text and the age, as plain text.
func (r Row) Label() string {
	if r.Age == "" {
		return r.Text
	}
	return r.Text + separator + r.Age
}

// Menu is the content of the tray.
type Menu struct {
	Rows    []Row  // above "Open Rollcall"; never empty
	Ended   []Row  // sessions that ended, the last one first
	Quiet   string // text of the row that ends do not disturb; empty: it is off
	Tooltip string
	Marks   string // the numbers of sessions with the symbols of their statuses, such as "◆2 ◐3"; empty: none is at work
	Icon    assets.State
	Count   int // sessions that wait for the user
}

// Asked returns the request of a waiting session as one clean line; empty: the request is not known.
type Asked func(*app.Session) string

// Build returns the menu for a snapshot at the time now. asked may be nil.
func Build(snapshot *app.Snapshot, asked Asked, now time.Time) Menu {
	atWork, folded, away := snapshot.CountAtWork()
	counts := counts(atWork)
	shown, hidden := pick(snapshot, counts)
	troubles := troubles(snapshot)
	own := ownTroubles(snapshot)
	if snapshot.Headless == app.QuietHeadless {
		folded = 0
	}
	empty := ""
	if len(shown) == 0 {
		empty = emptyText(snapshot, troubles)
	}

	var rows []Row
	if empty != "" {
		rows = append(rows, Row{Kind: Message, Text: empty})
	}
	for _, s := range shown {
		rows = append(rows, sessionRow(s, asked, now))
	}
	rows = append(rows, moreRow(hidden, folded, away)...)
	rows = append(rows, troubleRows(troubles, empty)...)
	for _, text := range own {
		rows = append(rows, Row{Kind: Adapter, Text: text})
	}
	return Menu{
		Rows:    rows,
		Tooltip: tooltip(counts, troubles, empty, len(own) > 0),
		Marks:   counts.marks(),
		Icon:    icon(counts, troubles, len(own) > 0),
		Count:   counts.of(adapters.Waiting),
	}
}

// moreRow returns the row for the sessions that have no row of their own, if there are any: "7 more… (7 idle), 4 headless, 2 hidden", or "Hidden (2)".
func moreRow(hidden counts, folded, away int) []Row {
	var parts []string
	if hidden.sum() > 0 {
		parts = append(parts, fmt.Sprintf("%d more… (%s)", hidden.sum(), hidden.words()))
	}
	if folded > 0 {
		parts = append(parts, fmt.Sprintf("%d headless", folded))
	}
	switch {
	case len(parts) == 0 && away == 0:
		return nil
	case len(parts) == 0:
		parts = []string{fmt.Sprintf("Hidden (%d)", away)}
	case away > 0:
		parts = append(parts, fmt.Sprintf("%d hidden", away))
	}
	return []Row{{Kind: More, Text: strings.Join(parts, ", ")}}
}

// troubleRows returns the rows of the troubles. While the menu is loading, only failures have a row.
func troubleRows(troubles []trouble, empty string) (rows []Row) {
	for _, t := range troubles {
		if t.text != "" && len(rows) < MaxAdapters && (t.failed || empty != loading) {
			rows = append(rows, Row{Kind: Adapter, Text: t.text})
		}
	}
	return rows
}

// emptyText returns the text for a menu without sessions. It is "No agents at work" only if every adapter has answered.
func emptyText(snapshot *app.Snapshot, troubles []trouble) string {
	if snapshot.At.IsZero() && len(snapshot.Adapters) == 0 {
		return loading
	}
	text := "No agents at work"
	for _, t := range troubles {
		switch {
		case t.away: // another machine may list its sessions late, or never
			text = "No agents seen at work"
		case !t.failed:
			return loading
		case t.lost:
			text = "No agents seen at work"
		}
	}
	if left := present.LeftOut(snapshot.LeftOut.Agents); left != "" {
		text += "; " + left
	}
	return text
}

const loading = "Reading the agents…"

// icon returns the state of the icon. The first condition that applies determines it: a session waits for the user; the
// sessions of an adapter are lost; a session works; an adapter answered only in part. partly reports trouble with
// Rollcall's own files, which has the same state as a partial answer.
func icon(c counts, troubles []trouble, partly bool) assets.State {
	lost := false
	for _, t := range troubles {
		lost = lost || t.lost
		partly = partly || t.failed && !t.away
	}
	switch {
	case c.of(adapters.Waiting) > 0:
		return assets.NeedsYou
	case lost:
		return assets.Trouble
	case c.of(adapters.Working) > 0:
		return assets.Working
	case partly:
		return assets.Trouble
	}
	return assets.Quiet
}
