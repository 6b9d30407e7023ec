package notify

import "strings"

// escape escapes text for a server that reads markup. It escapes only these three characters, since some servers do not
// know other entities.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

var lookalikes = strings.NewReplacer("&", "＆", "<", "‹", ">", "›").Replace

// withoutMarkup replaces the characters of markup, and a leading hyphen, by similar ones. It is for a receiver that may
// read markup, or that takes the text as a command-line argument.
func withoutMarkup(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s = "‐" + rest
	}
	return lookalikes(s)
}

// withoutScript replaces the characters that have a meaning in a PowerShell here-string or in CDATA. On Windows without
// the toast interface the library inserts texts into such a script without escaping them.
var withoutScript = strings.NewReplacer(
	"$", "＄", "`", "ˋ", `"`, "″", "“", "″", "”", "″", "„", "″", "]]", "] ]").Replace
