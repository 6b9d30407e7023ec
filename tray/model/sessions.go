package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

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
// session has no topic.
func activity(s adapters.Session, now time.Time) string {
	status, topic := present.Status(s), present.Doing(s, now)
	if s.Status == adapters.Unknown {
		topic = present.Evidence(s)
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
		how := cmp.Or(present.Outcome(&brief), "ended")
		if topic := present.Topic(brief); topic != "" {
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
