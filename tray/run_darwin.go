package tray

import (
	"context"
	"strconv"

	"fyne.io/systray"
)

// run shows the tray in the menu bar. On macOS a click on the icon opens the menu, so only a row of the menu opens
// the window.
func run(ctx context.Context, m *menu) error {
	ready := func() {
		v := m.first()
		native := newNativeMenu(m, v, func(label string) string { return label }, func(n int) {
			title := ""
			if n > 0 {
				title = strconv.Itoa(n)
			}
			systray.SetTitle(title)
		})
		stop := m.start(native.show)
		m.opts.shown("the menu bar")
		for {
			select {
			case <-systray.TrayOpenedCh:
				// On another goroutine, since the current one must receive the next opening.
				go m.opening()
			case <-ctx.Done():
				stop()
				systray.Quit()
				return
			}
		}
	}
	systray.Run(ready, nil)
	return nil
}
