package tray

import (
	"context"
	"strconv"

	"fyne.io/systray"
)

// run shows the tray in the menu bar. There a click on an icon opens its menu,
// so the window has its row only.
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
				// Not on this goroutine: the next opening must be heard.
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
