package notify

import "strings"

// escape is for a server that reads markup. Only these three characters: some
// servers show other entities as they are written.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

var lookalikes = strings.NewReplacer("&", "＆", "<", "‹", ">", "›").Replace

// inert is for a way of which it isn't known whether it reads markup: the text
// looks nearly the same, means nothing in either case, and is no option of a
// program that gets it as an argument.
func inert(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s = "‐" + rest
	}
	return lookalikes(s)
}

// inertScript takes from a text what means something inside a PowerShell
// here-string and inside CDATA: where Windows lacks the toast interface, the
// library beneath puts texts into such a script as they are.
var inertScript = strings.NewReplacer(
	"$", "＄", "`", "ˋ", `"`, "″", "“", "″", "”", "″", "„", "″", "]]", "] ]").Replace
