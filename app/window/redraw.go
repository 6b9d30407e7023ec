//go:build !headless

package window

import (
	"time"

	"fyne.io/fyne/v2"
)

// redrawStep is how often redrawAfterSleep looks.
const redrawStep = time.Second

// redrawAfterSleep redraws the window, until closed, when Fyne no longer knows that its content is in a window. Fyne 2.8.1 forgets that for every object if it draws
// nothing for a minute, as while the computer sleeps, and then has to draw at once (fyne-io/fyne issue 6509). It ignores each refresh from then on, so what is shown
// would stay as it is until the size of the window changes.
func redrawAfterSleep(closed <-chan struct{}, win fyne.Window) {
	for {
		select {
		case <-closed:
			return
		case <-time.After(redrawStep):
			fyne.Do(func() {
				content := win.Content()
				if fyne.CurrentApp().Driver().CanvasForObject(content) == nil {
					win.Canvas().Refresh(content)
				}
			})
		}
	}
}
