package machine

import (
	"cmp"
	"regexp"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// SessionJSON is a session in the JSON documents of Rollcall, and a row of a stream. Empty fields are left out.
type SessionJSON struct {
	ID             string              `json:"id"`
	Machine        string              `json:"machine,omitempty"`
	Agent          adapters.Name       `json:"agent"`
	Status         adapters.Status     `json:"status"`
	WaitingFor     adapters.WaitingFor `json:"waiting_for,omitempty"`
	Outcome        adapters.Outcome    `json:"outcome,omitempty"`
	Decision       string              `json:"decision,omitempty"`
	Suspended      bool                `json:"suspended,omitempty"`
	Evidence       string              `json:"evidence"`
	QuietSeconds   int                 `json:"quiet_seconds,omitempty"`
	Background     []BackgroundJSON    `json:"background,omitempty"`
	Stale          *StaleJSON          `json:"stale,omitempty"`
	PID            int                 `json:"pid,omitempty"`
	PIDStart       uint64              `json:"pid_start,omitempty"` // only in what a Program prints
	CWD            string              `json:"cwd,omitempty"`
	Branch         string              `json:"branch,omitempty"`
	Model          string              `json:"model,omitempty"`
	Title          string              `json:"title,omitempty"`
	Name           string              `json:"name,omitempty"`
	FirstPrompt    string              `json:"first_prompt,omitempty"`
	LastPrompt     string              `json:"last_prompt,omitempty"`
	Doing          string              `json:"doing,omitempty"`
	DoingSince     string              `json:"doing_since,omitempty"`
	Parent         string              `json:"parent,omitempty"`
	ContinuedIn    string              `json:"continued_in,omitempty"`
	Remote         string              `json:"remote,omitempty"`
	Container      string              `json:"container,omitempty"`
	Host           string              `json:"host,omitempty"`
	Home           string              `json:"home,omitempty"`
	Account        string              `json:"account,omitempty"`
	Headless       bool                `json:"headless,omitempty"`
	Archived       bool                `json:"archived,omitempty"`
	NoResume       string              `json:"no_resume,omitempty"`
	Tokens         *adapters.Tokens    `json:"tokens,omitempty"`
	Context        *adapters.Context   `json:"context,omitempty"`
	CostUSD        float64             `json:"cost_usd,omitempty"`
	StartedAt      string              `json:"started_at,omitempty"`
	TurnStartedAt  string              `json:"turn_started_at,omitempty"`
	LastActivityAt string              `json:"last_activity_at,omitempty"`
	Version        string              `json:"version,omitempty"`
	MayAsk         bool                `json:"may_ask,omitempty"`
	Unattended     bool                `json:"unattended,omitempty"`
	Unstored       bool                `json:"unstored,omitempty"`
	Limited        bool                `json:"limited,omitempty"`
	LimitedUntil   string              `json:"limited_until,omitempty"`
	Pinned         bool                `json:"pinned,omitempty"` // this and the next ones are the notes of the machine that prints them
	Hidden         bool                `json:"hidden,omitempty"`
	Snoozed        bool                `json:"snoozed,omitempty"`
	SnoozedUntil   string              `json:"snoozed_until,omitempty"`
	Muted          bool                `json:"muted,omitempty"`
	LeftBehind     int                 `json:"left_behind,omitempty"`
	Resources      *ResourcesJSON      `json:"resources,omitempty"` // only where it was asked for
	Launch         *LaunchJSON         `json:"launch,omitempty"`
}

// BackgroundJSON is what goes on in a session whose turn is over.
type BackgroundJSON struct {
	Kind  adapters.BackgroundKind `json:"kind"`
	What  string                  `json:"what,omitempty"`
	Since string                  `json:"since,omitempty"`
	At    string                  `json:"at,omitempty"`
	// TurnFollows is that of adapters.Background.
	TurnFollows bool `json:"turn_follows,omitempty"`
}

// ResourcesJSON is what the processes of a session use.
type ResourcesJSON struct {
	Processes        int     `json:"processes"`
	MemoryBytes      uint64  `json:"memory_bytes"`
	ProcessorSeconds float64 `json:"processor_seconds"`
	Shared           bool    `json:"shared,omitempty"`
}

// LaunchJSON is the record of a session that Rollcall started.
type LaunchJSON struct {
	ID         string `json:"id"`
	Group      string `json:"group,omitempty"`
	Spec       string `json:"spec,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	LaunchedAt string `json:"launched_at"`
	// ExitCode is missing while the agent's process runs, and where CodeUnknown reports that the code is not known.
	ExitCode    *int   `json:"exit_code,omitempty"`
	Signal      string `json:"signal,omitempty"`
	CodeUnknown bool   `json:"exit_code_unknown,omitempty"`
}

// StaleJSON describes since when and why a session could not be read.
type StaleJSON struct {
	Since  string `json:"since"`
	Reason string `json:"reason"`
}

// AdapterJSON is how an adapter answered.
type AdapterJSON struct {
	Name      adapters.Name    `json:"name"`
	State     app.AdapterState `json:"state"`
	Error     string           `json:"error,omitempty"`
	ElapsedMS int64            `json:"elapsed_ms"`
	Sessions  int              `json:"sessions"`
	LookedIn  []string         `json:"looked_in,omitempty"`
}

// RemovedJSON names a row of a stream that was removed.
type RemovedJSON struct {
	Agent adapters.Name `json:"agent"`
	ID    string        `json:"id"`
}

// HelloJSON is the part of a stream's first line that describes its writer.
type HelloJSON struct {
	Version   string `json:"version"`
	Host      string `json:"host,omitempty"`
	Heartbeat int    `json:"heartbeat"` // seconds
}

// agentName matches valid names of agents, also of agents that only a later version knows.
var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// maxID is longer than the id of any agent.
const maxID = 300

// validID reports whether an id can be shown, and typed by the user to name the session.
func validID(id string) bool {
	return id != "" && len(id) <= maxID && present.Line(id) == id
}

// oneLine and someLines return a text of another machine in a form that is safe to show.
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

// session returns the row as it is shown here. ok is false if its agent or id is not valid, since such a row can't be named.
func (w *SessionJSON) session(machine string, skew time.Duration) (s app.Session, ok bool) {
	if !agentName.MatchString(string(w.Agent)) || !validID(w.ID) || w.Parent != "" && !validID(w.Parent) {
		return app.Session{}, false
	}
	s = app.Session{Machine: machine, Account: oneLine(w.Account), Session: adapters.Session{
		ID: app.MachineID(machine, w.ID), Agent: w.Agent, Model: oneLine(w.Model), Archived: w.Archived, NoResume: oneLine(w.NoResume),
		Version: oneLine(w.Version), Unstored: w.Unstored,
		State: adapters.State{Suspended: w.Suspended, Evidence: someLines(w.Evidence), MayAsk: w.MayAsk, Limited: w.Limited,
			LimitedUntil: clockOf(w.LimitedUntil, skew)},
		Owner: adapters.Owner{Host: oneLine(w.Host), Headless: w.Headless, Unattended: w.Unattended},
		Place: adapters.Place{CWD: oneLine(w.CWD), Branch: oneLine(w.Branch), Container: oneLine(w.Container), Home: oneLine(w.Home),
			Remote: cmp.Or(oneLine(w.Remote), machine)},
		Topic: adapters.Topic{Title: someLines(w.Title), Name: oneLine(w.Name), FirstPrompt: someLines(w.FirstPrompt),
			LastPrompt: someLines(w.LastPrompt), Doing: someLines(w.Doing), DoingSince: clockOf(w.DoingSince, skew)},
		Spent: adapters.Spent{Tokens: w.Tokens, CostUSD: w.CostUSD},
		Times: adapters.Times{StartedAt: clockOf(w.StartedAt, skew), TurnStartedAt: clockOf(w.TurnStartedAt, skew),
			LastActivityAt: clockOf(w.LastActivityAt, skew)},
	}}
	if validID(w.ContinuedIn) {
		s.ContinuedIn = app.MachineID(machine, w.ContinuedIn)
	}
	if w.Parent != "" {
		s.Parent = app.MachineID(machine, w.Parent)
	}
	if w.Context != nil {
		s.Context = *w.Context
	}
	w.setStatus(&s, skew)
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

// maxQuiet is far above the seconds for which a session may give no sign of life.
const maxQuiet = 1 << 28

// setStatus sets what the session does. A status that this version does not know is shown as Unknown.
func (w *SessionJSON) setStatus(s *app.Session, skew time.Duration) {
	switch w.Status {
	case adapters.Working, adapters.Waiting, adapters.Idle, adapters.Stopped, adapters.Unknown:
		s.Status = w.Status
	default:
		s.Status = adapters.Unknown
		s.Evidence = "the Rollcall on its machine reports a status that this version does not know: " + oneLine(string(w.Status)) + "; " + s.Evidence
	}
	if s.Status == adapters.Idle {
		s.Decision = oneLine(w.Decision)
		for _, b := range w.Background {
			at := adapters.Background{Kind: b.Kind, What: oneLine(b.What), Since: clockOf(b.Since, skew), At: clockOf(b.At, skew), TurnFollows: b.TurnFollows}
			if b.Kind == adapters.Running || b.Kind == adapters.WakeUp && !at.At.IsZero() {
				s.Background = append(s.Background, at)
			}
		}
	}
	if s.Status == adapters.Working {
		s.Quiet = time.Duration(min(max(0, w.QuietSeconds), maxQuiet)) * time.Second
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
