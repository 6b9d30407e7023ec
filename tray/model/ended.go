package model

import (
	"time"

	"rollcall/app"
	"rollcall/app/present"
)

// endedMark is the symbol for a session that ended.
const endedMark = "■"

// EndedRows returns the rows for sessions that ended. Each row shows the outcome and the time of the end.
func EndedRows(ended []app.Event, now time.Time) []Row {
	var rows []Row
	for i := range ended[:min(len(ended), MaxEnded)] {
		ev := &ended[i]
		brief := present.Brief(ev.Session.Session)
		how := present.Outcome(&brief)
		if how == "" {
			how = "ended"
		}
		if topic := present.Topic(brief); topic != "" {
			how += ": " + topic
		}
		head := endedMark + " " + present.Cut(present.Project(brief.CWD), projectWidth) + separator +
			present.Cut(present.AgentName(brief.Agent), agentWidth) + separator
		age := present.Since(ev.At, now)
		left := width - present.Width(head) - present.Width(separator) - present.Width(age)
		rows = append(rows, Row{Kind: Session, Text: head + present.Cut(how, max(left, topicLeast)), Age: age, Session: brief.ID})
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
