// Package model computes the contents of the tray from a snapshot and the time: the rows of the menu, the tooltip and the
// icon's state. It does not depend on the platform. Labels are plain text; the platform must escape them.
package model

import (
	"cmp"
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

const separator = " · "

// counts are the numbers of sessions in the menu, by the rank of their status.
type counts app.Counts

func (c *counts) of(s adapters.Status) int { return c[app.Rank(s)] }

func (c *counts) sum() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

// words returns the counts as text, such as "2 need you, 3 working".
func (c *counts) words() string {
	var parts []string
	if n := c.of(adapters.Waiting); n == 1 {
		parts = append(parts, "1 needs you")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d need you", n))
	}
	for _, s := range []adapters.Status{adapters.Working, adapters.Unknown, adapters.Idle} {
		if n := c.of(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// marks returns the counts with the symbols of the statuses, such as "◆2 ◐3".
func (c *counts) marks() string {
	var parts []string
	for _, s := range app.Order {
		if n := c.of(s); n > 0 && s != adapters.Stopped {
			parts = append(parts, fmt.Sprintf("%s%d", mark(s), n))
		}
	}
	return strings.Join(parts, " ")
}

// pick returns the sessions that have their own row, in the order of the snapshot (see app.Sort), and the counts of the other sessions.
// all are the counts of both. It stops reading the snapshot, which may be very long, when it has enough.
func pick(snapshot *app.Snapshot, all counts) (shown []*app.Session, hidden counts) {
	hidden = all
	for s := range snapshot.All() {
		if len(shown) == min(MaxSessions, all.sum()) {
			break
		}
		if s.AtWork() && !s.PutAway() && !snapshot.Headless.Folds(s) {
			shown = append(shown, s)
			hidden[app.Rank(s.Status)]--
		}
	}
	return shown, hidden
}

// mark returns the symbol for a status. The symbols differ by shape. They are geometric shapes, which menu fonts have and
// no system draws as emoji.
func mark(s adapters.Status) string {
	switch s {
	case adapters.Waiting:
		return "◆"
	case adapters.Working:
		return "◐"
	case adapters.Idle:
		return "○"
	}
	return "?"
}

// Widths of the parts of a session's row, in cells. The topic gets the rest.
const (
	projectWidth = 18
	agentWidth   = 14
	machineWidth = 12
	topicLeast   = 12
)

func sessionRow(s *app.Session, asked Asked, now time.Time) Row {
	age := present.Since(s.LastActivityAt, now)
	if s.Stale != nil {
		age = "seen " + clock(s.Stale.Since, now)
	}
	brief := present.Brief(s.Session)
	head := mark(s.Status) + " " + present.Cut(present.Project(brief.CWD), projectWidth) + separator
	if s.Machine != "" {
		head += present.Cut(present.Line(s.Machine), machineWidth) + separator
	}
	text, agent := "", present.Cut(present.AgentName(s.Agent), agentWidth)+separator
	if s.Status == adapters.Waiting && !s.Suspended && asked != nil {
		text = asked(s)
	}
	left := width - present.Width(head)
	if age != "" {
		left -= present.Width(separator) + present.Width(age)
	}
	isAsked := text != ""
	if !isAsked {
		text = activity(brief, now)
	}
	if !isAsked || present.Width(agent)+present.Width(text) <= left { // what is asked is more important than who asks
		head, left = head+agent, left-present.Width(agent)
	}
	return Row{
		Kind:    Session,
		Text:    head + present.Isolate(present.CutPath(text, max(left, topicLeast))),
		Age:     age,
		Session: s.ID,
		Here:    s.Machine == "" && s.Remote == "" && !s.Process.IsZero(),
		Waits:   s.Status == adapters.Waiting,
	}
}

// activity returns the status and the topic of a session. It omits "working" and "idle", which the mark shows, unless the
// session has no topic. Why a status is not known is its topic, but of an agent that is never read.
func activity(s adapters.Session, now time.Time) string {
	status, topic := present.Status(s), present.Doing(s, now)
	if s.Status == adapters.Unknown && !present.IsNotRead(&s) {
		topic = present.Evidence(&s.State)
	}
	switch {
	case topic == "":
		return status
	case status == string(adapters.Working), status == string(adapters.Idle):
		return topic
	}
	return status + ": " + topic
}

// clock returns the time of day, with the date unless it is today.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

// endedMark is the symbol for a session that ended.
const endedMark = "■"

// EndedRows returns the rows for sessions that ended. Each row shows the outcome and the time of the end.
func EndedRows(ended []app.Event, now time.Time) []Row {
	var rows []Row
	for i := range ended[:min(len(ended), MaxEnded)] {
		ev := &ended[i]
		brief := present.Brief(ev.Session.Session)
		how := cmp.Or(present.Outcome(&brief.State), "ended")
		if topic := present.Topic(brief.Topic); topic != "" {
			how += ": " + topic
		}
		head := endedMark + " " + present.Cut(present.Project(brief.CWD), projectWidth) + separator +
			present.Cut(present.AgentName(brief.Agent), agentWidth) + separator
		age := present.Since(ev.At, now)
		left := width - present.Width(head) - present.Width(separator) - present.Width(age)
		rows = append(rows, Row{Kind: Session, Text: head + present.Isolate(present.Cut(how, max(left, topicLeast))), Age: age, Session: brief.ID})
	}
	return rows
}

// SetQuiet makes the menu show that do not disturb is on until the given time. A zero time means until it is turned off.
func (m *Menu) SetQuiet(until, now time.Time) {
	m.Quiet = "End do not disturb"
	if !until.IsZero() {
		m.Quiet += " (until " + clock(until, now) + ")"
	}
	m.Tooltip = present.Cut(m.Tooltip+"; do not disturb", tooltipWidth)
}
