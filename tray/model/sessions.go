package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

const separator = " · "

// counts are the sessions in the menu by what they do.
type counts struct{ waiting, working, idle, unknown int }

func (c *counts) add(s adapters.Status) {
	switch s {
	case adapters.Waiting:
		c.waiting++
	case adapters.Working:
		c.working++
	case adapters.Idle:
		c.idle++
	default:
		c.unknown++
	}
}

// words are the counts as a reader wants them: "2 need you, 3 working".
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

// order picks the sessions for the menu and puts first who needs the user, then
// who works or may be at work, then who is idle; the newest activity first.
func order(sessions []app.Session) (shown []*app.Session, c counts) {
	for i := range sessions {
		if s := &sessions[i]; shows(s) {
			shown = append(shown, s)
			c.add(s.Status)
		}
	}
	slices.SortStableFunc(shown, func(a, b *app.Session) int {
		return cmp.Or(
			cmp.Compare(rank(a.Status), rank(b.Status)),
			b.LastActivityAt.Compare(a.LastActivityAt),
			cmp.Compare(a.Agent, b.Agent),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return shown, c
}

func rank(s adapters.Status) int {
	return slices.Index([]adapters.Status{adapters.Waiting, adapters.Working, adapters.Unknown, adapters.Idle}, s)
}

// mark is the sign for a status. The signs differ by shape, stand in the block
// of geometric shapes that menu fonts have, and none is drawn as an emoji.
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

// Widths of the parts of a session's row, in cells. What it does or asks gets
// what the others leave.
const (
	projectWidth = 18
	agentWidth   = 14
	topicLeast   = 12
)

func sessionRow(s *app.Session, now time.Time) Row {
	age := present.Since(s.LastActivityAt, now)
	if s.Stale != nil {
		age = "seen " + clock(s.Stale.Since, now)
	}
	project := present.Project(bound(s.CWD, pathBytes))
	if project == "" {
		project = "(unprintable)"
	}
	head := mark(s.Status) + " " +
		present.Cut(project, projectWidth) + separator +
		present.Cut(present.AgentName(s.Agent), agentWidth) + separator
	left := width - present.Width(head)
	if age != "" {
		left -= present.Width(separator) + present.Width(age)
	}
	return Row{
		Kind:    Session,
		Text:    head + present.Cut(does(s), max(left, topicLeast)),
		Age:     age,
		Session: s.ID,
	}
}

// does says what the session does or asks. Its mark already says "working" and
// "idle", so those words only stand where nothing else is known.
func does(s *app.Session) string {
	bounded := s.Session
	bounded.Title = bound(s.Title, textBytes)
	bounded.LastPrompt = bound(s.LastPrompt, textBytes)
	bounded.FirstPrompt = bound(s.FirstPrompt, textBytes)
	bounded.Evidence = bound(s.Evidence, textBytes)

	status, topic := present.Status(bounded), present.Topic(bounded)
	if s.Status == adapters.Unknown {
		topic = present.Evidence(bounded)
	}
	switch {
	case topic == "":
		return status
	case s.Status == adapters.Working, s.Status == adapters.Idle && status == "idle":
		return topic
	}
	return status + ": " + topic
}

func moreRow(n int, hidden []*app.Session) Row {
	var c counts
	for _, s := range hidden {
		c.add(s.Status)
	}
	return Row{Kind: More, Text: fmt.Sprintf("%d more… (%s)", n, c.words())}
}

// How much of a text from an agent is looked at. A row shows at most sixty
// characters; a prompt may hold megabytes, and escape sequences before them.
const (
	textBytes = 4 << 10
	pathBytes = 8 << 10
)

// bound cuts s to at most n bytes, not within a character. A path keeps its
// end, so it is bounded far above what a system allows.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for i := 0; i < utf8.UTFMax && len(s) > 0; i++ {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// clock is the time of day, with the day when it isn't today's.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}
