package notify

import (
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/gen2brain/beeep"
)

func init() { beeep.AppName = appName }

// plain shows a notification without clicks and withdrawal. It may block for seconds if the desktop hangs.
func plain(o order, icon []byte) error {
	title, body := withoutMarkup(o.text.Title), withoutMarkup(o.text.Body)
	switch runtime.GOOS {
	case "windows":
		title, body = withoutScript(title), withoutScript(body)
	case "darwin":
		title, body = forAppleScript(title), forAppleScript(body)
	}
	var picture any = "" // the library takes a path or a PNG, not nil
	if len(icon) > 0 {
		picture = icon
	}
	if o.sound {
		return beeep.Alert(title, body, picture)
	}
	return beeep.Notify(title, body, picture)
}

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

// forAppleScript replaces the characters for which Go's %q writes an escape that AppleScript does not know, such as \u200d: the
// library quotes texts in that way (beeep 0.11), and macOS would refuse the whole script as a syntax error. Spaces become a space,
// what has no width goes, and a character that is newer than Go's tables becomes U+FFFD.
func forAppleScript(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("\n\r\t", r) || strconv.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return unicode.ReplacementChar
	}, s)
}
