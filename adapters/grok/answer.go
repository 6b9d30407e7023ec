package grok

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
)

var _ adapters.Answerer = (*Adapter)(nil)

// frame is drawn before each row of a request, and style is how Grok Build draws one (1.0.41). It shows the first rows of a long command alone, of which Rollcall
// answers none.
const frame = "  ┃  "

var style = &pane.Style{
	Edge: regexp.MustCompile(`\[Dashboard\]$`), Margin: 2, Inside: regexp.MustCompile(`^  ┃  `), Blank: "  ┃", Mark: regexp.MustCompile(`^  ┃  ← → narrow scope`),
	Option: regexp.MustCompile(`^  ┃  ([1-9]) \([●○]\) (\S.*)$`), Typing: regexp.MustCompile(`\(●\) No, reject`), Below: regexp.MustCompile(`^ *1/[1-9]:select\b`),
	Allow: "Yes, proceed", Deny: "No, reject (type to add feedback)",
}

// Pending implements adapters.Answerer for commands that a pane of tmux or kitty shows whole. Grok Build takes no answers from outside (1.0.41).
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting || len(s.Files) < 2 {
		return nil, nil
	}
	r, err := a.read(ctx, &s)
	if r == nil {
		return nil, err
	}
	_, err = a.shown(ctx, &s, r, err)
	return []adapters.Request{*r}, err
}

// read returns the request of the only call that a session has open, as its records have it, and with an error where its terminal alone can answer it.
func (a *Adapter) read(ctx context.Context, s *adapters.Session) (*adapters.Request, error) {
	call, open, err := openCall(ctx, s.Files[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, adapters.AsProblem(s.Files[0], err))
	}
	if s.WaitingFor != adapters.ForPermission || s.Parent != "" || s.Shared || open != 1 {
		return nil, fmt.Errorf("%w: answer it in its terminal", adapters.ErrAnswerElsewhere)
	}
	u, err := parseUpdate(call)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	r := protocol.Request(kit.Short(u.get("toolCallId")), func(member string) []byte { return u.get(member) }, nil)
	r.Session, r.Folder, r.Where = s.ID, s.CWD, "its terminal"
	list := permissions(ctx, s.Files[1])
	if i := slices.IndexFunc(list, func(p permission) bool { return p.decision == "" }); i >= 0 {
		r.AskedAt = list[i].at
		list = slices.Delete(list, i, i+1)
	}
	isOnly := !r.AskedAt.IsZero() && !slices.ContainsFunc(list, func(p permission) bool { return p.decision == "" })
	r.CanAllow = isOnly && r.Kind == adapters.AsksCommand
	if !r.CanAllow {
		return &r, fmt.Errorf("%w: answer it in its terminal", adapters.ErrAnswerElsewhere)
	}
	// What the call says of its command stands above it.
	if note := kit.Short(u.get("rawInput", "description")); note != "" {
		r.Details = append(r.Details, adapters.Detail{Title: "Description", Text: note})
	}
	return &r, nil
}

// shown returns the request in its pane. It does nothing if there is an error already.
func (a *Adapter) shown(ctx context.Context, s *adapters.Session, r *adapters.Request, err error) (*pane.Shown, error) {
	if err != nil {
		return nil, err
	}
	note := ""
	for _, d := range r.Details {
		note += d.Text
	}
	found, err := style.Read(ctx, a.Table, s.Process, r, parts(note, r.Text)...)
	r.CanAllow = r.CanAllow && err == nil
	return found, err
}

// parts are what a request shows: what the call says of its command, and the command.
func parts(note, command string) (list []pane.Part) {
	if note != "" {
		list = append(list, pane.Part{First: frame, Next: frame, Rest: frame, Text: note})
	}
	return append(list, pane.Part{First: frame, Next: frame, Rest: frame, Text: command})
}

// Answer implements adapters.Answerer: the terminal presses the number of the option if the pane still shows the same request.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, asked adapters.Request, d adapters.Decision) (none adapters.Result, err error) {
	if err := d.Check(&asked); err != nil {
		return none, err
	}
	if len(s.Files) < 2 {
		return none, adapters.ErrNotPending
	}
	r, err := a.read(ctx, &s)
	if r == nil {
		return none, err
	}
	found, err := a.shown(ctx, &s, r, err)
	if err != nil {
		return none, err
	}
	if _, err := adapters.Match([]adapters.Request{*r}, &asked); err != nil {
		return none, err
	}
	return found.Decide(ctx, r, d.Verdict, func() pane.Decided {
		for _, p := range permissions(ctx, s.Files[1]) {
			if p.at.Equal(r.AskedAt) {
				return decisions[p.decision]
			}
		}
		return pane.Open
	})
}

// maxTurnLines bounds the lines of a turn that are looked at.
const maxTurnLines = 5000

// openCall returns the last call of the turn without a result, as its record has it, and how many there are. Each sub-agent that runs counts as one.
func openCall(ctx context.Context, path string) (call []byte, open int, err error) {
	over, left := map[string]bool{}, maxTurnLines
	err = agentfile.LastLines(ctx, path, func(line []byte) bool {
		left--
		u, err := parseUpdate(line)
		if err != nil {
			return left > 0
		}
		id, child := kit.Short(u.get("toolCallId")), kit.Short(u.get("child_session_id"))
		switch string(agentfile.Text(u.typ)) {
		case "user_message_chunk", "turn_completed":
			return false
		case "tool_call_update":
			over[id] = over[id] || stateOf(&u) != ""
		case "subagent_finished":
			over[child] = true
		case "subagent_spawned":
			open += count(!over[child])
		case "tool_call":
			if !over[id] && call == nil {
				call = slices.Clone(line)
			}
			open += count(!over[id])
		}
		return left > 0
	})
	return call, open, err
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// permission is a request for a permission, with what was decided on it; empty: nothing yet.
type permission struct {
	at       time.Time
	decision string
}

// cancelled is the decision on a request whose turn ended.
const cancelled = "cancelled"

// decisions are those that events.jsonl records (1.0.41).
var decisions = map[string]pane.Decided{"": pane.Open, "allow": pane.Allowed, "deny": pane.Denied, "reject": pane.Denied, cancelled: pane.Denied}

// permissions returns the requests of the last turn, the newest first.
func permissions(ctx context.Context, path string) (list []permission) {
	var decided []string
	left := maxTurnLines
	_ = agentfile.LastLines(ctx, path, func(line []byte) bool { // what can't be read has none
		left--
		switch string(agentfile.Text(agentfile.Get(line, "type"))) {
		case "turn_started":
			return false
		case "turn_ended":
			decided = append(decided, cancelled)
		case "permission_resolved":
			decided = append(decided, kit.Short(agentfile.Get(line, "decision")))
		case "permission_requested":
			p := permission{at: agentfile.Time(agentfile.Get(line, "ts"))}
			if n := len(decided); n > 0 {
				p.decision = decided[n-1]
				decided = decided[:n-1]
			}
			list = append(list, p)
		}
		return left > 0
	})
	return list
}
