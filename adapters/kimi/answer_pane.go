package kimi

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/pane"
)

// style is how Kimi Code draws a request in its terminal (2.1.0). One that is higher than the terminal has its beginning above it, and is not answered.
var style = &pane.Style{
	Edge: regexp.MustCompile(`^ ─{20,}$`), Inside: regexp.MustCompile(`^   `), Mark: regexp.MustCompile(`^   Dangerous: `),
	Option: regexp.MustCompile(`^   [▶ ] ([1-9])\. (\S.*)$`), Typing: regexp.MustCompile(`▶ [1-9]\. Reject with feedback`), Below: regexp.MustCompile(`^   ↑/↓ select · 1/2/`),
	Allow: "Approve once", Deny: "Reject",
}

// inTerminal returns the only request of a session, if it is for a command, and a pane of tmux or kitty shows it whole.
func (a *Adapter) inTerminal(ctx context.Context, s *adapters.Session, list []adapters.Request) (*pane.Shown, error) {
	if s.Process.IsZero() || s.Shared || s.Parent != "" || len(list) != 1 || list[0].Kind != adapters.AsksCommand {
		return nil, fmt.Errorf("%w: answer it in its terminal", adapters.ErrAnswerElsewhere)
	}
	for _, path := range s.Files {
		inner := *s
		inner.Files, inner.Parent = []string{path}, s.ID
		others, err := readRequests(ctx, &inner)
		if path != wireOf(s) && (len(others) > 0 || err != nil) {
			return nil, fmt.Errorf("%w: a sub-agent asks as well; answer it in its terminal", adapters.ErrAnswerElsewhere)
		}
	}
	r := &list[0]
	note := ""
	for _, d := range r.Details {
		if d.Title == saysTitle {
			note = d.Text
		}
	}
	return style.Read(ctx, a.Table, s.Process, r, parts(r.Folder, r.Text, note)...)
}

// parts are what a request for a command shows: the folder, the command, and what the call says of it.
func parts(folder, command, note string) []pane.Part {
	list := []pane.Part{{First: "   ▶ ", Text: "Run this command?"}, {}, {First: "   cwd: ", Text: folder}, {First: "   $ ", Next: "   · ", Rest: "     ", Text: command}}
	if note != "" {
		list = append(list, pane.Part{First: "     ", Next: "     ", Rest: "     ", Text: note})
	}
	return list
}

// wireOf returns the file of a session, or of a sub-agent; empty: it has none.
func wireOf(s *adapters.Session) string {
	at := slices.IndexFunc(s.Files, func(path string) bool {
		return filepath.Base(path) == wireName && (s.Parent != "" || filepath.Base(filepath.Dir(path)) == mainAgent)
	})
	if at < 0 {
		return ""
	}
	return s.Files[at]
}

// decidedOn returns what the session's file says of a request.
func decidedOn(ctx context.Context, s *adapters.Session, id string) (d pane.Decided) {
	left := maxAskLines
	_ = agentfile.LastLines(ctx, wireOf(s), func(line []byte) bool { // what can't be read has no decision
		left--
		isOver := string(agentfile.Text(agentfile.Get(line, "type"))) == "interaction.resolved" && agentfile.String(agentfile.Get(line, "id")) == id
		if isOver {
			d = pane.Denied
		}
		if isOver && string(agentfile.Text(agentfile.Get(line, "response", "decision"))) == "approved" {
			d = pane.Allowed
		}
		return !isOver && left > 0
	})
	return d
}
