package answer

import (
	"cmp"
	"fmt"
	"time"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/settings"
)

// Asked is one thing that waits for the user: a request, or a session whose request is not known.
type Asked struct {
	Entry   Entry
	Request *Request // nil: not known, or not read yet
	number  int      // of request among the requests of its session, from 1
	Asks    Asks     // what the session asks, in words
}

// Ref returns what identifies a. Its key is empty for a session whose request is not known.
func (a *Asked) Ref() Ref {
	r := Ref{Agent: a.Entry.Session.Agent, Session: a.Entry.Session.ID}
	if a.Request != nil {
		r.Key = a.Request.Key
	}
	return r
}

// ListAsked returns what waits, in the order of entries. It leaves out a session without a request if its parent or a
// sub-agent has one: both wait for the same answer.
func ListAsked(entries []Entry) (list []Asked) {
	familyOf := func(e *Entry) app.SessionKey {
		return app.SessionKey{Agent: e.Session.Agent, ID: cmp.Or(e.Session.Parent, e.Session.ID)}
	}
	asking := map[app.SessionKey]bool{}
	for i := range entries {
		if len(entries[i].Requests) > 0 {
			asking[familyOf(&entries[i])] = true
		}
	}
	for _, e := range entries {
		for i := range e.Requests {
			list = append(list, Asked{Entry: e, Request: &e.Requests[i], number: i + 1})
		}
		answered := e.Read && e.Err == nil && !e.Nothing // the request was answered, but the session's status does not show it yet
		if len(e.Requests) == 0 && !answered && (!asking[familyOf(&e)] || e.Err != nil) {
			list = append(list, Asked{Entry: e})
		}
	}
	for i := range list {
		list[i].Asks = AsksOf(&list[i].Entry.Session, list[i].Request)
	}
	return list
}

// IsKnown reports whether there is a text of what is asked: the request's, or that of the agent's records.
func (a *Asked) IsKnown() bool { return a.Request != nil || a.Asks.Text != "" }

// What returns what the agent asks for, as in "wants to run a command (1 of 2)".
func (a *Asked) What() string {
	asks := &a.Asks
	if n := len(a.Entry.Requests); n > 1 {
		return fmt.Sprintf("%s (%d of %d)", asks.Words, a.number, n)
	}
	return asks.Words
}

// Since returns when the wait began; zero: that is not known.
func (a *Asked) Since() time.Time {
	if a.Request != nil && !a.Request.AskedAt.IsZero() {
		return a.Request.AskedAt
	}
	return a.Entry.Session.LastActivityAt
}

// WhyNot returns why a request, or part of what it asks for, can't be answered from here; empty: it can.
func (a *Asked) WhyNot(policy settings.Answering) string {
	place := ""
	if a.Entry.Place != "" {
		place = " (" + present.Cut(present.Short(a.Entry.Place), 160) + ")"
	}
	r, there := a.Request, present.Short(present.Where(&a.Entry.Session.Owner))+place
	switch {
	case !a.Entry.Read:
		return ""
	case r == nil && a.Entry.Err == nil:
		return "The agent reports that nothing waits any more. If the session still waits, answer it " + there + "."
	case r == nil:
		return present.Sentence(present.Error(a.Entry.Err)) + place + "."
	case policy == settings.AnswerNone:
		return "Nothing is answered from here: the setting “answering” is off. Answer it " + there + ", or change the setting."
	case policy == settings.AnswerDeny && r.CanDeny:
		return "It can only be denied from here: the setting “answering” is “deny-only”."
	case policy == settings.AnswerDeny:
		return "It can't be answered from here: the setting “answering” is “deny-only”. Answer it " + there + "."
	case !r.CanAllow && !r.CanDeny && !r.CanReply:
		return "It can't be answered from here. Answer it " + there + "."
	case len(r.Unknown) > 0:
		return present.Sentence(r.UnknownText()) + place + "."
	case !r.CanAllow && !r.CanReply:
		return "It can only be denied from here: to allow it, answer it " + there + "."
	}
	return ""
}
