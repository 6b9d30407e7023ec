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
)

// said is a text of the user without what the gateway put before it; nothing when
// it was cut off before the user's words.
func said(s string) string {
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
