package notify

import (
	"runtime"

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
