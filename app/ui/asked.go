package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// asked is one thing that waits for the user: a request, or a session whose request is not known.
type asked struct {
	entry   answer.Entry
	request *answer.Request // nil: not known, or not read yet
	number  int             // of request among the requests of its session, from 1
	asks    answer.Asks     // what the session asks, in words
}

// ref returns what identifies a. Its key is empty for a session whose request is not known.
func (a *asked) ref() answer.Ref {
	r := answer.Ref{Agent: a.entry.Session.Agent, Session: a.entry.Session.ID}
	if a.request != nil {
		r.Key = a.request.Key
	}
	return r
}

// listAsked returns what waits, in the order of entries. It leaves out a session without a request if its parent or a
// sub-agent has one: both wait for the same answer.
func listAsked(entries []answer.Entry) (list []asked) {
	familyOf := func(e *answer.Entry) key {
		return key{agent: e.Session.Agent, id: cmp.Or(e.Session.Parent, e.Session.ID)}
	}
	asking := map[key]bool{}
	for i := range entries {
		if len(entries[i].Requests) > 0 {
			asking[familyOf(&entries[i])] = true
		}
	}
	for _, e := range entries {
		for i := range e.Requests {
			list = append(list, asked{entry: e, request: &e.Requests[i], number: i + 1})
		}
		answered := e.Read && e.Err == nil && !e.Nothing // the request was answered, but the session's status does not show it yet
		if len(e.Requests) == 0 && !answered && (!asking[familyOf(&e)] || e.Err != nil) {
			list = append(list, asked{entry: e})
		}
	}
	for i := range list {
		list[i].asks = answer.AsksOf(&list[i].entry.Session, list[i].request)
	}
	return list
}

// isKnown reports whether there is a text of what is asked: the request's, or that of the agent's records.
func (a *asked) isKnown() bool { return a.request != nil || a.asks.Text != "" }

// title returns a line that names the agent, its folder and what the agent asks for.
func (a *asked) title() string {
	s := &a.entry.Session
	return present.AgentName(s.Agent) + " in " + present.Cut(present.Project(tail(s.CWD, maxRowText)), 40) + " " + when(s.Remote != "", onMachine(s)+" ") + a.what()
}

// what returns what the agent asks for, as in "wants to run a command (1 of 2)".
func (a *asked) what() string {
	asks := &a.asks
	if n := len(a.entry.Requests); n > 1 {
		return fmt.Sprintf("%s (%d of %d)", asks.Words, a.number, n)
	}
	return asks.Words
}

// since returns when the wait began; zero: that is not known.
func (a *asked) since() time.Time {
	if a.request != nil && !a.request.AskedAt.IsZero() {
		return a.request.AskedAt
	}
	return a.entry.Session.LastActivityAt
}

// row returns the texts of a row, which is nested below one with the project or not.
func (a *asked) row(nested bool, now time.Time) rowText {
	s, asks := a.entry.Session, a.asks
	s.Stale, s.LastActivityAt = nil, a.since() // the board reads the session itself
	switch {
	case asks.Text != "":
	case a.entry.Read:
		asks.Text = "answer it " + present.Where(&s.Session)
	default:
		asks.Text = "reading what it asks…"
	}
	return sessionText(&s, &asks, nested, now)
}

// whyNot returns why a request, or part of what it asks for, can't be answered from here; empty: it can.
func (a *asked) whyNot(policy settings.Answering) string {
	place := ""
	if a.entry.Place != "" {
		place = " (" + present.Cut(short(a.entry.Place), 160) + ")"
	}
	r, there := a.request, short(present.Where(&a.entry.Session.Session))+place
	switch {
	case !a.entry.Read:
		return ""
	case r == nil && a.entry.Err == nil:
		return "The agent reports that nothing waits any more. If the session still waits, answer it " + there + "."
	case r == nil:
		return sentence(errorText(a.entry.Err)) + place + "."
	case policy == settings.AnswerNone:
		return "Nothing is answered from here: the setting “answering” is off. Answer it " + there + ", or change the setting."
	case policy == settings.AnswerDeny && r.CanDeny:
		return "It can only be denied from here: the setting “answering” is “deny-only”."
	case policy == settings.AnswerDeny:
		return "It can't be answered from here: the setting “answering” is “deny-only”. Answer it " + there + "."
	case !r.CanAllow && !r.CanDeny && !r.CanReply:
		return "It can't be answered from here. Answer it " + there + "."
	case len(r.Unknown) > 0:
		return sentence(r.UnknownText()) + place + "."
	case !r.CanAllow && !r.CanReply:
		return "It can only be denied from here: to allow it, answer it " + there + "."
	}
	return ""
}

// sentence returns a text that begins with a capital letter.
func sentence(text string) string {
	if _, size := utf8.DecodeRuneInString(text); size > 0 {
		return strings.ToUpper(text[:size]) + text[size:]
	}
	return ""
}

// sizeText returns the size of a text that is not wholly visible; empty: it is.
func sizeText(c *widgets.Code, bytes int) string {
	if !c.IsReady() || c.IsEndSeen() && c.Rows() <= c.Visible() {
		return ""
	}
	return fmt.Sprintf("%s, %s", english.Plural(c.Rows(), "line", "lines"), humanize.Bytes(uint64(bytes))) +
		when(!c.IsEndSeen(), ": only a part is visible, scroll to its end")
}
