package openclaw

import (
	"regexp"
	"strings"
)

var (
	// timePrefix matches the time that versions up to 2026.5 put before the user's
	// text.
	timePrefix = regexp.MustCompile(`^\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,30}\] ?`)
	// contextPrefix matches the beginning of the context that they put there (the sender,
	// the group and similar): JSON in a fence. A title has it in one line, cut off.
	contextPrefix = regexp.MustCompile("^[A-Z][A-Za-z ]{2,60} \\(untrusted[^)\\n]{0,40}\\):\\s+```json\\s")
	// taskMark separates the instructions of a sub-agent from its task: in a separate
	// line (2026.9.6), or before a colon (2026.2.26).
	taskMark = regexp.MustCompile(`\[Subagent Task\](?::|\s*\n)`)
)

// isGatewayText reports whether a text with the role of the user is from the gateway:
// after a restart, and at intervals while nothing happens.
func isGatewayText(s string) bool {
	return strings.HasPrefix(s, "[System] ") || strings.HasPrefix(s, "[OpenClaw heartbeat")
}

// userText returns a text of the user without the text that the gateway put before it,
// and "" when the text was cut off before the user's words. For a sub-agent it returns
// the task.
func userText(s string) string {
	if at := taskMark.FindStringIndex(s); at != nil && strings.Contains(s[:at[0]], "[Subagent Context] ") {
		s = strings.TrimSuffix(strings.TrimSpace(s[at[1]:]), "Begin. Execute the assigned task to completion.")
	}
	for {
		s = strings.TrimSpace(timePrefix.ReplaceAllString(strings.TrimSpace(s), ""))
		head := contextPrefix.FindString(s)
		if head == "" {
			return s
		}
		_, rest, ok := strings.Cut(s[len(head)-1:], "\n```")
		if !ok {
			return ""
		}
		s = rest
	}
}
