package notify

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// How much of untrusted text is looked at, in bytes, and shown, in cells. A
// prompt can be megabytes long.
const (
	textRead    = 4096
	projectCell = 40
	topicCells  = 160
	listedLines = 3
)

// Text is what a notification says: plain text, no markup, safe to show. The
// title is one line, the body is at most four.
type Text struct{ Title, Body string }

// EndedText says that a process ended with these sessions, none of them a
// sub-agent; how it ended and how long it ran when it was one.
func EndedText(ended []app.Event) Text {
	if len(ended) == 0 {
		return Text{}
	}
	first := brief(ended[0].Session.Session)
	agent := present.AgentName(first.Agent)
	if len(ended) == 1 {
		return Text{
			Title: agent + " ended" + place(first),
			Body:  lines(topic(first), sentence(howEnded(first), ran(ended[0]))),
		}
	}
	var body []string
	for i, ev := range ended {
		if i == listedLines {
			body = append(body, fmt.Sprintf("and %d more", len(ended)-i))
			break
		}
		s := brief(ev.Session.Session)
		row := present.Cut(present.Project(s.CWD), projectCell)
		if how := howEnded(s); how != "" {
			row += ": " + how
		}
		body = append(body, row)
	}
	return Text{Title: fmt.Sprintf("%s ended with %d sessions", agent, len(ended)), Body: lines(body...)}
}

// WaitingText says that a session waits for the user, and for what.
func WaitingText(waits app.Session) Text {
	s := brief(waits.Session)
	return Text{Title: present.AgentName(s.Agent) + " " + present.Line(present.Status(s)) + place(s), Body: topic(s)}
}

// brief is s with its texts cut to what is worth cleaning.
func brief(s adapters.Session) adapters.Session {
	for _, text := range []*string{&s.Title, &s.FirstPrompt, &s.LastPrompt, &s.Remote} {
		*text = head(*text)
	}
	if len(s.CWD) > textRead { // what is shown is the end
		s.CWD = strings.ToValidUTF8(s.CWD[len(s.CWD)-textRead:], "")
	}
	return s
}

func head(s string) string {
	if len(s) <= textRead {
		return s
	}
	n := textRead
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func place(s adapters.Session) string {
	switch {
	case s.CWD != "":
		return " in " + present.Cut(present.Project(s.CWD), projectCell)
	case s.Remote != "":
		return " on " + present.Cut(present.Line(s.Remote), projectCell)
	}
	return ""
}

func topic(s adapters.Session) string { return present.Cut(present.Topic(s), topicCells) }

// howEnded is empty when the agent does not tell.
func howEnded(s adapters.Session) string { return present.Line(present.Outcome(s.Outcome)) }

func ran(ev app.Event) string {
	start := ev.Session.StartedAt
	if start.IsZero() {
		start = ev.Before.StartedAt
	}
	end := ev.At
	if last := ev.Session.LastActivityAt; end.IsZero() {
		end = last
	}
	switch took := end.Sub(start); {
	case start.IsZero() || end.IsZero() || took < 0:
		return ""
	case took < 2*time.Second:
		return "ran 1 s"
	default:
		return "ran " + present.Age(took)
	}
}

// sentence joins parts with commas and begins them with a capital letter.
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
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
