package tray

import (
	"context"
	"strings"
	"time"

	"fyne.io/systray"
	"golang.org/x/sys/windows"
)

// run shows the tray in the taskbar's notification area. A left click opens the window, a right click the menu.
func run(ctx context.Context, m *menu) error {
	systray.SetOnTapped(func() { m.openWindow("") })
	isReady := make(chan struct{})
	thread := windows.GetCurrentThreadId()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := func() {
		close(isReady)
		native := newNativeMenu(m, m.first(), escapeMenu, nil)
		if err := onMenuOpening(m.opening); err != nil {
			m.opts.Log.Warn("tray: the menu will not be refreshed when it opens", "error", err)
		}
		stop := m.start(native.show)
		m.opts.shown("the taskbar")
		<-ctx.Done()
		stop()
		systray.Quit()
	}
	go watchReady(ctx, m, isReady, thread)
	systray.Run(ready, nil)
	return nil
}

// watchReady reports a taskbar that does not accept the icon, which systray only logs. It ends systray's message loop
// when ctx is done, since Quit cannot close a window that does not exist.
func watchReady(ctx context.Context, m *menu, ready <-chan struct{}, thread uint32) {
	grace := time.NewTimer(m.opts.Grace)
	defer grace.Stop()
	select {
	case <-ready:
		return
	case <-grace.C:
		m.opts.noHost()
	case <-ctx.Done():
	}
	select {
	case <-ready:
	case <-ctx.Done():
		endMessageLoop(thread)
	}
}

// escapeMenu doubles ampersands, which would mark the next letter as the access key.
func escapeMenu(label string) string { return strings.ReplaceAll(label, "&", "&&") }
