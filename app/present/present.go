// Package present turns sessions into words: the one place where names of
// agents, statuses, ages and untrusted text get the form in which every surface
// (menu, window, table, notification) shows them. It is pure.
package present

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"rollcall/adapters"
)

// AgentName is the name that the agent's makers give it.
func AgentName(n adapters.Name) string {
	switch n {
	case adapters.ClaudeCode:
		return "Claude Code"
	case adapters.Codex:
		return "Codex"
	case adapters.OpenCode:
		return "OpenCode"
	case adapters.OpenClaw:
		return "OpenClaw"
	case adapters.Pi:
		return "Pi"
	case adapters.PiRust:
		return "pi_agent_rust"
	}
	return Line(string(n))
}

// Status says what the session does in a word or two: "needs permission".
func Status(s adapters.Session) string {
	switch s.Status {
	case adapters.Waiting:
		switch s.WaitingFor {
		case adapters.ForPermission:
			return "needs permission"
		case adapters.ForQuestion:
			return "asks you"
		}
		return "needs you"
	case adapters.Idle:
		if s.Outcome == adapters.Failed {
			return "idle, failed"
		}
		if s.Outcome == adapters.Interrupted {
			return "idle, interrupted"
		}
		return "idle"
	case adapters.Stopped:
		if s.Outcome != "" {
			return Outcome(s.Outcome)
		}
		return "stopped"
	}
	return Line(string(s.Status))
}

// Outcome says how the last turn ended: "died in mid-turn".
func Outcome(o adapters.Outcome) string {
	switch o {
	case adapters.Completed:
		return "turn complete"
	case adapters.Interrupted:
		return "stopped by you"
	case adapters.Failed:
		return "turn failed"
	case adapters.Died:
		return "died in mid-turn"
	}
	return Line(string(o))
}

// Project is the name of the session's folder, for rows with little room.
func Project(cwd string) string {
	if cwd == "" {
		return "(no folder)"
	}
	if name := Line(filepath.Base(filepath.Clean(cwd))); name != "" {
		return name
	}
	return "(unprintable)"
}

// Topic says what the session is about: its title, else its last prompt, else
// its first. One clean line; empty if nothing is known.
func Topic(s adapters.Session) string {
	for _, t := range []string{s.Title, s.LastPrompt, s.FirstPrompt} {
		if t = Line(t); t != "" {
			return t
		}
	}
	return ""
}

// Age is a duration in its largest unit: "now", "42 s", "5 m", "3 h", "2 d".
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	}
	return fmt.Sprintf("%d d", int(d/(24*time.Hour)))
}

// Since is the Age of t at now; empty for a zero t. A t in the future (clocks
// differ) is "now".
func Since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Age(now.Sub(t))
}

// Line makes untrusted text safe for one line anywhere: no control characters,
// no escape sequences, no characters that reorder the line or are invisible,
// white space folded.
func Line(s string) string {
	return strings.Join(strings.Fields(clean(s, false)), " ")
}

// Text makes untrusted text safe for several lines: as Line, but line breaks
// and indentation stay.
func Text(s string) string { return strings.TrimSpace(clean(s, true)) }

func clean(s string, breaks bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := escapeLen(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := decode(s[i:])
		i += n
		switch {
		case r == '\n' && breaks, r == '\t' && breaks:
			b.WriteRune(r)
		case r == '\r' && breaks: // half of a line break, or a way to overwrite the line
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r), !visible(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cut shortens s to at most width terminal cells, with an ellipsis, without
// splitting what a reader sees as one character.
func Cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	used := 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used+g.Width() > width-1 {
			break
		}
		used += g.Width()
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// Width is the number of terminal cells that s takes.
func Width(s string) int { return uniseg.StringWidth(s) }

// Evidence is the session's evidence as one clean line.
func Evidence(s adapters.Session) string { return Line(s.Evidence) }
