package answer

import (
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/risk"
	"rollcall/app/present"
)

// Asks is what a session that waits asks of the user, in words. Every surface shows it: the lists, the menu, notifications.
type Asks struct {
	Name  string // the user's own name for the session
	Words string // what it wants: "wants to run a command"; its status where only its records are known
	Text  string // what for, as one line that is safe to show and not cut to the width of a screen; empty: that is not known
	// Dangers are the reasons why it looks dangerous, in words. They are for the eye: what has none may be dangerous as well.
	Dangers []string
}

// AsksOf returns what a session asks: its request r or, where that is not known (nil), the call that its records leave open.
func AsksOf(s *app.Session, r *Request) Asks {
	a := Asks{Name: present.Line(s.Name), Words: present.Status(s.Session)}
	switch {
	case r != nil:
		a.Words = r.Kind.Words()
		a.Text = r.Brief()
		a.Dangers = r.Dangers
	case s.Status != adapters.Waiting:
	case s.WaitingFor == adapters.ForPermission:
		a.Text, a.Dangers = present.Line(present.Visible(s.Doing)), risk.OfCall(s.Doing, s.CWD)
	default:
		a.Text = present.Line(present.Visible(s.Doing))
	}
	return a
}

// Mark returns the mark that stands before what looks dangerous; empty: nothing does.
func (a *Asks) Mark() string {
	if len(a.Dangers) > 0 {
		return "⚠ "
	}
	return ""
}

// Topic returns the text, and before it the user's name for the session; empty: what it asks for is not known.
func (a *Asks) Topic() string {
	if a.Text == "" || a.Name == "" {
		return a.Text
	}
	return a.Name + " · " + a.Text
}

// Line returns all of it in one line: "wants to run: ⚠ git push --force".
func (a *Asks) Line() string {
	words := strings.TrimSuffix(a.Words, " a command")
	if a.Text == "" {
		return words
	}
	return words + ": " + a.Mark() + a.Text
}

// Danger returns the reasons as one sentence; empty: there are none.
func (a *Asks) Danger() string {
	if len(a.Dangers) == 0 {
		return ""
	}
	return "Looks dangerous: " + strings.Join(a.Dangers, "; ")
}

// Asks returns what a session asks, as the board knows it. The board may be nil: then only its records are known.
func (b *Board) Asks(s *app.Session) Asks {
	if b != nil {
		if e, ok := b.Of(s.Agent, s.ID); ok && len(e.Requests) > 0 {
			return AsksOf(s, &e.Requests[0])
		}
	}
	return AsksOf(s, nil)
}
