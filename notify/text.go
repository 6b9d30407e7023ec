package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

// The sizes of parts of a text, in cells and lines.
const (
	projectCell = 40
	machineCell = 18 // the part of projectCell for the machine
	topicCells  = 160
	listedLines = 3
)

// Text is the text of a notification: clean plain text. The title has one line, the body at most four.
type Text struct{ Title, Body string }

// EndedText returns the text for a process that ended with these sessions. Sub-agents are not among them. For a single
// session the text has the outcome and the duration.
func EndedText(ended []app.Event) Text {
	if len(ended) == 0 {
		return Text{}
	}
	first := present.Brief(ended[0].Session.Session)
	agent := present.AgentName(first.Agent)
	if len(ended) == 1 {
		return Text{
			Title: agent + " ended" + place(&first.Place),
			Body:  lines(topic(first.Topic), sentence(howItEnded(&ended[0].Session), ran(ended[0]))),
		}
	}
	body := listed(ended, func(ev *app.Event) string {
		s := present.Brief(ev.Session.Session)
		return followed(present.Cut(present.Project(s.CWD), projectCell), howItEnded(&ev.Session))
	})
	return Text{Title: fmt.Sprintf("%s ended with %d sessions", agent, len(ended)), Body: body}
}

// listed returns a line for each of the first listedLines items, and a line with the number of further items.
func listed[T any](items []T, line func(*T) string) string {
	var body []string
	for i := range items {
		if i == listedLines {
			body = append(body, fmt.Sprintf("and %d more", len(items)-i))
			break
		}
		body = append(body, line(&items[i]))
	}
	return lines(body...)
}

// followed returns text, a colon and by. It returns only text if by is empty.
func followed(text, by string) string {
	if by == "" {
		return text
	}
	return text + ": " + by
}

// Missed is a launch that ended while Rollcall was not running.
type Missed struct {
	Session  adapters.Session // has at least the agent and the folder
	ExitCode *int             // nil: unknown
}

// WantsMissed reports whether the user wants to be notified of a launch that ended while Rollcall was not running.
func (r Rules) WantsMissed(m *Missed) bool {
	kind := endKind(&m.Session.State)
	if m.Session.Outcome == "" && m.ExitCode != nil && *m.ExitCode != 0 {
		kind = Failed
	}
	return r.wants(kind, &app.Session{Session: m.Session})
}

// MissedText returns the text for launches that ended while Rollcall was not running.
func MissedText(missed []Missed) Text {
	body := listed(missed, func(m *Missed) string {
		s := present.Brief(m.Session)
		how := howEnded(&s.State)
		if how == "" && m.ExitCode != nil {
			how = exitCode(*m.ExitCode)
		}
		return followed(present.AgentName(s.Agent)+place(&s.Place), how)
	})
	title := "1 launch ended while Rollcall was off"
	if len(missed) != 1 {
		title = fmt.Sprintf("%d launches ended while Rollcall was off", len(missed))
	}
	return Text{Title: title, Body: body}
}

// WaitingText returns the text for a session that waits for the user.
func WaitingText(waits app.Session) Text {
	s := present.Brief(waits.Session)
	asks := answer.AsksOf(&waits, nil)
	return Text{Title: present.AgentName(s.Agent) + " " + asks.Words + place(&s.Place), Body: lines(danger(&asks), cmp.Or(present.Cut(asks.Text, shownText), topic(s.Topic)))}
}

// severalText returns the text for several sessions that wait for the user.
func (p *policy) severalText(waits []app.Session) Text {
	body := listed(waits, func(x *app.Session) string {
		s, asks := present.Brief(x.Session), answer.AsksOf(x, nil)
		if e, ok := p.entry(x); ok {
			asks = answer.AsksOf(x, &e.Requests[0])
		}
		return present.Cut(present.AgentName(s.Agent)+place(&s.Place)+": "+asks.Line(), topicCells)
	})
	return Text{Title: fmt.Sprintf("%d sessions need you", len(waits)), Body: body}
}

// place returns where a session runs, in words. It omits the address of a gateway without a name: the folder says more.
func place(p *adapters.Place) string {
	switch {
	case p.CWD != "" && p.Remote != "" && p.Container == "" && !strings.Contains(p.Remote, "://"):
		return " in " + present.Cut(present.Project(p.CWD), projectCell-machineCell) + " on " + present.Cut(present.Line(p.Remote), machineCell-len(" on "))
	case p.CWD != "" && p.Container != "":
		return " in " + present.Cut(present.Project(p.CWD), projectCell) + " in a container"
	case p.CWD != "":
		return " in " + present.Cut(present.Project(p.CWD), projectCell)
	case p.Remote != "":
		return " on " + present.Cut(present.Line(p.Remote), projectCell)
	}
	return ""
}

func topic(t adapters.Topic) string {
	return present.Isolate(present.Cut(present.Topic(t), topicCells))
}

// howEnded returns the outcome in words, or an empty string if it is unknown.
func howEnded(s *adapters.State) string { return present.Line(present.Outcome(s)) }

// howItEnded returns the outcome in words, or how the process of a launch ended of which the agent records none.
func howItEnded(s *app.Session) string {
	how := howEnded(&s.State)
	switch l := s.Launch; {
	case how != "" || l == nil:
	case l.Signal != "":
		return "ended by " + present.Line(l.Signal)
	case l.ExitCode != nil:
		return exitCode(*l.ExitCode)
	}
	return how
}

func exitCode(code int) string { return fmt.Sprintf("exit code %d", code) }

// ran returns the duration of the last turn in words, or an empty string if it is unknown.
func ran(ev app.Event) string {
	took, ok := ev.TurnLength()
	if !ok {
		return ""
	}
	text := "ran 1 s"
	if took >= 2*time.Second {
		text = "ran " + present.Age(took)
	}
	if ev.BetweenTurns() && ev.Session.Outcome == "" {
		text = "last turn " + text
	}
	return text
}

// sentence joins the parts that are not empty with commas, and capitalises the first letter.
func sentence(parts ...string) string {
	s := strings.Join(filled(parts), ", ")
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func lines(parts ...string) string { return strings.Join(filled(parts), "\n") }

func filled(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
}
