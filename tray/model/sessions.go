package model

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

const separator = " · "

// counts are the numbers of sessions in the menu, by status.
type counts struct{ waiting, working, idle, unknown int }

func countsOf(n app.Counts) (c counts) {
	for rank, status := range app.Order {
		c.add(status, n[rank])
	}
	return c
}

func (c *counts) add(s adapters.Status, n int) {
	switch s {
	case adapters.Waiting:
		c.waiting += n
	case adapters.Working:
		c.working += n
	case adapters.Idle:
		c.idle += n
	default:
		c.unknown += n
	}
}

func (c counts) sum() int { return c.waiting + c.working + c.idle + c.unknown }

// words returns the counts as text, such as "2 need you, 3 working".
func (c counts) words() string {
	var parts []string
	if c.waiting == 1 {
		parts = append(parts, "1 needs you")
	} else if c.waiting > 1 {
		parts = append(parts, fmt.Sprintf("%d need you", c.waiting))
	}
	for _, p := range []struct {
		n    int
		what string
	}{{c.working, "working"}, {c.unknown, "unknown"}, {c.idle, "idle"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// pick returns the sessions that have a row of their own, in the order of the snapshot (see app.Sort), and the counts of those that have
// none. all are the counts of both. It reads no more of the snapshot than it needs, which may be very long.
func pick(snapshot *app.Snapshot, all counts) (shown []*app.Session, hidden counts) {
	hidden = all
	for s := range snapshot.All() {
		if len(shown) == min(MaxSessions, all.sum()) {
			break
		}
		if s.AtWork() {
			shown = append(shown, s)
			hidden.add(s.Status, -1)
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
	head +=
		present.Cut(present.AgentName(s.Agent), agentWidth) + separator
	left := width - present.Width(head)
	if age != "" {
		left -= present.Width(separator) + present.Width(age)
	}
	text := ""
	if s.Status == adapters.Waiting && asked != nil {
		text = asked(s)
	}
	if text == "" {
		text = activity(brief)
	}
	return Row{
		Kind:    Session,
		Text:    head + present.Cut(text, max(left, topicLeast)),
		Age:     age,
		Session: s.ID,
		Here:    s.Machine == "" && s.Remote == "" && !s.Process.IsZero(),
		Waits:   s.Status == adapters.Waiting,
	}
}

// activity returns the status and the topic of a session. It omits "working" and "idle", which the mark shows, unless the
// session has no topic.
func activity(s adapters.Session) string {
	status, topic := present.Status(s), present.Topic(s)
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

func moreRow(hidden counts) Row {
	return Row{Kind: More, Text: fmt.Sprintf("%d more… (%s)", hidden.sum(), hidden.words())}
}

// clock returns the time of day, with the date unless it is today.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}
