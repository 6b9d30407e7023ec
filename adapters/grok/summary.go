package grok

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// summary holds what summary.json says of a session.
type summary struct {
	kit.OneRecord
	cwd, branch, kind, title string
	created                  time.Time
}

// isSub reports whether the session is a sub-agent's.
func (s *summary) isSub() bool { return s.kind == "subagent" }

// Line implements kit.Gatherer.
func (s *summary) Line(data []byte) error {
	if agentfile.Null(agentfile.Get(data, "info", "id")) {
		return fmt.Errorf("it names no session: %w", kit.ErrForm)
	}
	text := func(path ...string) string { return kit.Short(agentfile.Get(data, path...)) }
	*s = summary{cwd: text("info", "cwd"), branch: text("head_branch"), kind: text("session_kind"),
		title: cmp.Or(text("generated_title"), text("session_summary")), created: agentfile.Time(agentfile.Get(data, "created_at"))}
	return nil
}

// Clone implements kit.Gatherer.
func (s *summary) Clone() summary { return *s }

// titleBeside returns the title, unless it is the beginning of the first prompt: Grok Build takes that until there is another.
func (s *summary) titleBeside(firstPrompt string) string {
	if strings.HasPrefix(strings.Join(strings.Fields(firstPrompt), " "), strings.TrimRight(strings.Join(strings.Fields(s.title), " "), "….")) {
		return ""
	}
	return s.title
}
