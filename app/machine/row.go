package machine

import (
	"cmp"
	"regexp"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// agentName is what an agent of a later version may be called too.
var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// maxID is longer than the id of any agent.
const maxID = 300

// validID reports whether an id can be shown, and typed by the user to name the session.
func validID(id string) bool {
	return id != "" && len(id) <= maxID && present.Line(id) == id
}

// oneLine and someLines return a text of another machine as it may be shown.
func oneLine(s string) string   { return present.Line(present.Head(s)) }
func someLines(s string) string { return present.Text(present.Head(s)) }

// clockOf reads a time of a machine whose clock is ahead of this one's by skew. A time that can't be read is not known.
func clockOf(text string, skew time.Duration) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.Add(-skew)
}

// session returns the row as it is shown here. ok is false for one that cannot be named: its agent or id is no such thing.
func (w *SessionJSON) session(machine string, skew time.Duration) (s app.Session, ok bool) {
	if !agentName.MatchString(string(w.Agent)) || !validID(w.ID) || w.Parent != "" && !validID(w.Parent) {
		return app.Session{}, false
	}
	s = app.Session{Machine: machine, Session: adapters.Session{
		ID: app.MachineID(machine, w.ID), Agent: w.Agent, Suspended: w.Suspended, Evidence: someLines(w.Evidence),
		CWD: oneLine(w.CWD), Branch: oneLine(w.Branch), Model: oneLine(w.Model), Title: someLines(w.Title),
		FirstPrompt: someLines(w.FirstPrompt), LastPrompt: someLines(w.LastPrompt), Remote: cmp.Or(oneLine(w.Remote), machine), Container: oneLine(w.Container),
		Version: oneLine(w.Version), Unattended: w.Unattended, Unstored: w.Unstored, Limited: w.Limited, Tokens: w.Tokens, CostUSD: w.CostUSD,
		StartedAt: clockOf(w.StartedAt, skew), TurnStartedAt: clockOf(w.TurnStartedAt, skew), LastActivityAt: clockOf(w.LastActivityAt, skew),
	}}
	if w.Parent != "" {
		s.Parent = app.MachineID(machine, w.Parent)
	}
	if w.Context != nil {
		s.Context = *w.Context
	}
	w.setStatus(&s)
	if w.Stale != nil {
		s.Stale = &app.Stale{Since: clockOf(w.Stale.Since, skew), Reason: oneLine(w.Stale.Reason)}
	}
	if l := w.Launch; l != nil && validID(l.ID) {
		s.Launch = &app.Launch{ID: app.MachineID(machine, l.ID), Group: oneLine(l.Group), Spec: oneLine(l.Spec), Prompt: someLines(l.Prompt),
			LaunchedAt: clockOf(l.LaunchedAt, skew), ExitCode: l.ExitCode, Signal: oneLine(l.Signal), CodeUnknown: l.CodeUnknown}
		s.Launch.Ended = l.ExitCode != nil || l.CodeUnknown
	}
	return s, true
}

// setStatus sets what the session does. A word that this version does not know is not guessed at.
func (w *SessionJSON) setStatus(s *app.Session) {
	switch w.Status {
	case adapters.Working, adapters.Waiting, adapters.Idle, adapters.Stopped, adapters.Unknown:
		s.Status = w.Status
	default:
		s.Status = adapters.Unknown
		s.Evidence = "its Rollcall reports a status that this version does not know: " + oneLine(string(w.Status)) + "; " + s.Evidence
	}
	if s.Status == adapters.Waiting {
		switch w.WaitingFor {
		case adapters.ForPermission, adapters.ForQuestion:
			s.WaitingFor = w.WaitingFor
		}
	}
	switch w.Outcome {
	case adapters.Completed, adapters.Interrupted, adapters.Failed, adapters.Died:
		s.Outcome = w.Outcome
	}
}
