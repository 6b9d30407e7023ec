package ui

import (
	"strings"

	"rollcall/adapters"
)

// resumeCommand is what a user types into a POSIX shell to take the session up
// again; empty where there is no such command: OpenClaw's sessions live in its
// gateway. It goes to the session's folder first, since agents look for sessions
// there.
func resumeCommand(s *adapters.Session) string {
	var words []string
	switch s.Agent {
	case adapters.ClaudeCode:
		words = []string{"claude", "--resume", s.ID}
	case adapters.Codex:
		words = []string{"codex", "resume", s.ID}
	case adapters.OpenCode:
		words = []string{"opencode", "-s", s.ID}
	case adapters.Pi:
		words = []string{"pi", "--session", s.ID}
	case adapters.PiRust: // by its file: of the id only the beginning is in the name
		if len(s.Files) == 0 {
			return ""
		}
		words = []string{"pi", "--session", s.Files[0]}
	default:
		return ""
	}
	if s.ID == "" || s.Remote != "" {
		return ""
	}
	return inFolder(s.CWD, words)
}

// inFolder is words as a POSIX shell command, run in the folder cwd.
func inFolder(cwd string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	command := strings.Join(quoted, " ")
	if cwd == "" {
		return command
	}
	dir := cwd
	if strings.HasPrefix(dir, "-") {
		dir = "./" + dir
	}
	return "cd " + shellQuote(dir) + " && " + command
}

// shellQuote makes s one word of a POSIX shell, whatever it holds.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
