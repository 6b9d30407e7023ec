package notify

import (
	"runtime"

	"github.com/gen2brain/beeep"
)

func init() { beeep.AppName = appName }

// plain shows a notification in the platform's plain way: no click, no
// withdrawal. It blocks, for seconds when the desktop hangs.
func plain(o order, icon []byte) error {
	title, body := inert(o.text.Title), inert(o.text.Body)
	if runtime.GOOS == "windows" {
		title, body = inertScript(title), inertScript(body)
	}
	var picture any = "" // the library takes a path or a PNG, not nil
	if len(icon) > 0 {
		picture = icon
	}
	return beeep.Notify(title, body, picture)
}
