package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/app"
)

// schema is the version of the documents below. Within it keys are only added.
const schema = 1

// document is what list and status print as JSON. Empty fields are left out.
type document struct {
	Schema   int           `json:"schema"`
	At       string        `json:"at"`
	Sessions []sessionJSON `json:"sessions"`
	Adapters []adapterJSON `json:"adapters"`
	Locks    []lockJSON    `json:"locks,omitempty"`
}

type sessionJSON struct {
	ID             string              `json:"id"`
	Agent          adapters.Name       `json:"agent"`
	Status         adapters.Status     `json:"status"`
	WaitingFor     adapters.WaitingFor `json:"waiting_for,omitempty"`
	Outcome        adapters.Outcome    `json:"outcome,omitempty"`
	Evidence       string              `json:"evidence"`
	Stale          *staleJSON          `json:"stale,omitempty"`
	PID            int                 `json:"pid,omitempty"`
	CWD            string              `json:"cwd,omitempty"`
	Branch         string              `json:"branch,omitempty"`
	Model          string              `json:"model,omitempty"`
	Title          string              `json:"title,omitempty"`
	FirstPrompt    string              `json:"first_prompt,omitempty"`
	LastPrompt     string              `json:"last_prompt,omitempty"`
	Parent         string              `json:"parent,omitempty"`
	Remote         string              `json:"remote,omitempty"`
	Tokens         *adapters.Tokens    `json:"tokens,omitempty"`
	Context        *adapters.Context   `json:"context,omitempty"`
	CostUSD        float64             `json:"cost_usd,omitempty"`
	StartedAt      string              `json:"started_at,omitempty"`
	LastActivityAt string              `json:"last_activity_at,omitempty"`
	Launch         *launchJSON         `json:"launch,omitempty"`
}

// launchJSON is what Rollcall itself knows of a session that it started.
type launchJSON struct {
	ID         string `json:"id"`
	Group      string `json:"group,omitempty"`
	Spec       string `json:"spec,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	LaunchedAt string `json:"launched_at"`
}

type staleJSON struct {
	Since  string `json:"since"`
	Reason string `json:"reason"`
}

type adapterJSON struct {
	Name      adapters.Name    `json:"name"`
	State     app.AdapterState `json:"state"`
	Error     string           `json:"error,omitempty"`
	ElapsedMS int64            `json:"elapsed_ms"`
	Sessions  int              `json:"sessions"`
	LookedIn  []string         `json:"looked_in,omitempty"`
}

func newDocument(at time.Time, sessions []app.Session, health []app.Health) document {
	d := document{Schema: schema, At: timestamp(at), Sessions: make([]sessionJSON, 0, len(sessions)), Adapters: []adapterJSON{}}
	for i := range sessions {
		d.Sessions = append(d.Sessions, sessionAsJSON(&sessions[i]))
	}
	for _, h := range health {
		if h.State != app.Pending { // another one had the answer first
			d.Adapters = append(d.Adapters, adapterAsJSON(h))
		}
	}
	return d
}

func sessionAsJSON(s *app.Session) sessionJSON {
	j := sessionJSON{
		ID: s.ID, Agent: s.Agent, Status: s.Status, WaitingFor: s.WaitingFor, Outcome: s.Outcome, Evidence: s.Evidence,
		PID: s.Process.PID, CWD: s.CWD, Branch: s.Branch, Model: s.Model, Title: s.Title,
		FirstPrompt: s.FirstPrompt, LastPrompt: s.LastPrompt, Parent: s.Parent, Remote: s.Remote,
		Tokens: s.Tokens, CostUSD: s.CostUSD,
		StartedAt: timestamp(s.StartedAt), LastActivityAt: timestamp(s.LastActivityAt),
	}
	if s.Context != (adapters.Context{}) {
		j.Context = &s.Context
	}
	if l := s.Launch; l != nil {
		j.Launch = &launchJSON{ID: l.ID, Group: l.Group, Spec: l.Spec, Prompt: l.Prompt, LaunchedAt: timestamp(l.LaunchedAt)}
	}
	if s.Stale != nil {
		j.Stale = &staleJSON{Since: timestamp(s.Stale.Since), Reason: s.Stale.Reason}
	}
	return j
}

func adapterAsJSON(h app.Health) adapterJSON {
	return adapterJSON{Name: h.Name, State: h.State, Error: strings.Join(h.Problems, "; "),
		ElapsedMS: h.Elapsed.Milliseconds(), Sessions: h.Sessions, LookedIn: h.LookedIn}
}

// timestamp is t in UTC to the second, the form that every date parser reads;
// empty for a zero t.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// printJSON prints a document, safe for a terminal, and indented on one.
func (c *command) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if c.streams.Width > 0 {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	escapeInvisible(&c.out, b.Bytes())
	return nil
}

// escapeInvisible writes JSON with the characters escaped that a terminal may
// obey although JSON allows them: DEL, the C1 controls, and those that reorder
// or hide text. A parser reads the same values.
func escapeInvisible(out *strings.Builder, text []byte) {
	out.Grow(len(text))
	start := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf && text[i] != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if hidden(r) {
			out.Write(text[start:i])
			fmt.Fprintf(out, `\u%04x`, r)
			start = i + n
		}
		i += n
	}
	out.Write(text[start:])
}

func hidden(r rune) bool {
	switch {
	case r >= 0x7f && r <= 0x9f, // DEL, C1
		r == 0xad, r == 0x61c,
		r >= 0x200b && r <= 0x200f && r != 0x200d, // marks of direction; the joiner makes emoji
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r == 0xfeff:
		return true
	}
	return false
}
