package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
)

// schema is the version of all JSON documents. Within a version, keys are only added.
const schema = 1

// document is the JSON document of list and status. Empty fields are left out.
type document struct {
	Schema   int                   `json:"schema"`
	At       string                `json:"at"`
	Sessions []machine.SessionJSON `json:"sessions"`
	Adapters []machine.AdapterJSON `json:"adapters"`
	Machines []machineJSON         `json:"machines,omitempty"`
	LeftOut  []adapters.Name       `json:"left_out,omitempty"`
	Locks    []lockJSON            `json:"locks,omitempty"`
}

func newDocument(at time.Time, sessions []app.Session, health []app.Health) document {
	// A pending adapter has not answered yet: the session was found without it.
	answered := slices.DeleteFunc(slices.Clone(health), func(h app.Health) bool { return h.State == app.Pending })
	return document{Schema: schema, At: timestamp(at), Sessions: each(sessions, sessionAsJSON), Adapters: each(answered, adapterAsJSON)}
}

// each returns what f makes of each element of a list. Without any it is empty, which JSON has as [], and not nil.
func each[From, To any](list []From, f func(*From) To) []To {
	out := make([]To, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

func sessionAsJSON(s *app.Session) machine.SessionJSON {
	j := machine.SessionJSON{
		ID: s.ID, Machine: s.Machine, Agent: s.Agent, Status: s.Status, WaitingFor: s.WaitingFor, Outcome: s.Outcome, Decision: s.Decision, Suspended: s.Suspended, Evidence: s.Evidence, QuietSeconds: int(s.Quiet / time.Second),
		PID: s.Process.PID, CWD: s.CWD, Branch: s.Branch, Model: s.Model, Title: s.Title, Name: s.Name,
		FirstPrompt: s.FirstPrompt, LastPrompt: s.LastPrompt, Doing: s.Doing, DoingSince: timestamp(s.DoingSince), Parent: s.Parent, Remote: s.Remote, Container: s.Container, Host: s.Host, Headless: s.Headless, Home: s.Home, Account: s.Account, Archived: s.Archived,
		ContinuedIn: s.ContinuedIn, NoResume: s.NoResume,
		Tokens: s.Tokens, CostUSD: s.CostUSD,
		StartedAt: timestamp(s.StartedAt), TurnStartedAt: timestamp(s.TurnStartedAt), LastActivityAt: timestamp(s.LastActivityAt),
		Pinned: s.Pinned, Hidden: s.Hidden, Snoozed: s.Snoozed, SnoozedUntil: timestamp(s.SnoozedUntil), Muted: s.Muted,
		LeftBehind: s.LeftBehind, Version: s.Version, MayAsk: s.MayAsk, Unattended: s.Unattended, Unstored: s.Unstored, Limited: s.Limited, LimitedUntil: timestamp(s.LimitedUntil),
	}
	for _, b := range s.Background {
		j.Background = append(j.Background, machine.BackgroundJSON{Kind: b.Kind, What: b.What, Since: timestamp(b.Since), At: timestamp(b.At), TurnFollows: b.TurnFollows})
	}
	if l := s.Load; l != nil {
		j.Resources = &machine.ResourcesJSON{Processes: l.Processes, MemoryBytes: l.Memory, ProcessorSeconds: l.Processor.Seconds(), Shared: l.Shared}
	}
	if s.Context != (adapters.Context{}) {
		j.Context = &s.Context
	}
	if l := s.Launch; l != nil {
		j.Launch = &machine.LaunchJSON{ID: l.ID, Group: l.Group, Spec: l.Spec, Prompt: l.Prompt, LaunchedAt: timestamp(l.LaunchedAt),
			ExitCode: l.ExitCode, Signal: l.Signal, CodeUnknown: l.CodeUnknown}
	}
	if s.Stale != nil {
		j.Stale = &machine.StaleJSON{Since: timestamp(s.Stale.Since), Reason: s.Stale.Reason}
	}
	return j
}

func adapterAsJSON(h *app.Health) machine.AdapterJSON {
	return machine.AdapterJSON{Name: h.Name, State: h.State, Error: strings.Join(h.Problems, "; "),
		ElapsedMS: h.Elapsed.Milliseconds(), Sessions: h.Sessions, LookedIn: h.LookedIn}
}

// timestamp returns t in UTC to the second, the form that every date parser reads;
// empty for a zero t.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// printSessions prints a document with these sessions. It encodes them one by one: with
// very many of them the whole text takes more memory than the list.
func (o *output) printSessions(d document, sessions []app.Session) error {
	const none, chunk = `"sessions":[]`, 64 << 10
	if o.streams.Width > 0 { // indented, for a reader
		d.Sessions = newDocument(time.Time{}, sessions, nil).Sessions
		return o.json(d)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	before, after, found := strings.Cut(b.String(), none)
	if !found {
		return errors.New("cannot write JSON: the document has no list of sessions")
	}
	escapeInvisible(&o.out, []byte(before+none[:len(none)-1]))
	for i := range sessions {
		b.Reset()
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(sessionAsJSON(&sessions[i])); err != nil {
			return fmt.Errorf("cannot write JSON: %w", err)
		}
		escapeInvisible(&o.out, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		if o.out.Len() >= chunk {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	escapeInvisible(&o.out, []byte("]"+after))
	return nil
}
