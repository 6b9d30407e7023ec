package adapters

import "strings"

// Plain returns Markdown as plain text: without the marks of headings, of bold text and of code. A line of a block of code stays as it is, since a mark can
// be a part of a command there.
func Plain(markdown string) string {
	lines := strings.Split(markdown, "\n")
	isCode := false
	for i, line := range lines {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "```") {
			lines[i], isCode = strings.Trim(text, "`"), !isCode
			continue
		}
		if isCode {
			continue
		}
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			line = strings.TrimLeft(heading, " ")
		}
		lines[i] = marks.Replace(line)
	}
	return strings.Join(lines, "\n")
}

var marks = strings.NewReplacer("**", "", "`", "")
