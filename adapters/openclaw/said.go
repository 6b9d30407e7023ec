package openclaw

import (
	"regexp"
	"strings"
)

var (
	// stamp is what versions up to 2026.5 put before the user's words.
	stamp = regexp.MustCompile(`^\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,30}\] ?`)
	// about begins what they put there of the sender, the group and the like: JSON
	// in a fence. A title has it in one line, cut off.
	about = regexp.MustCompile("^[A-Z][A-Za-z ]{2,60} \\(untrusted[^)\\n]{0,40}\\):\\s+```json\\s")
	// task parts what a sub-agent is told of itself from its task: in a line of its
	// own (2026.9.6), or before a colon (2026.2.26).
	task = regexp.MustCompile(`\[Subagent Task\](?::|\s*\n)`)
)

// ownWords is what the gateway says in the user's place: after a restart, and now
// and then while nothing happens.
func ownWords(s string) bool {
	return strings.HasPrefix(s, "[System] ") || strings.HasPrefix(s, "[OpenClaw heartbeat")
}

// said is a text of the user without what the gateway put before it; nothing when
// it was cut off before the user's words. A sub-agent's is its task.
func said(s string) string {
	if at := task.FindStringIndex(s); at != nil && strings.Contains(s[:at[0]], "[Subagent Context] ") {
		s = strings.TrimSuffix(strings.TrimSpace(s[at[1]:]), "Begin. Execute the assigned task to completion.")
	}
	for {
		s = strings.TrimSpace(stamp.ReplaceAllString(strings.TrimSpace(s), ""))
		head := about.FindString(s)
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
