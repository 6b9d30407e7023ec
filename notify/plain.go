package notify

import (
	"runtime"
	"strings"

	"github.com/gen2brain/beeep"
)

func init() { beeep.AppName = appName }

// plain shows a notification without clicks and withdrawal. It may block for seconds if the desktop hangs.
func plain(o order, icon []byte) error {
	title, body := withoutMarkup(o.text.Title), withoutMarkup(o.text.Body)
	if runtime.GOOS == "windows" {
		title, body = withoutScript(title), withoutScript(body)
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
