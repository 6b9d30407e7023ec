//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"rollcall/tray/dbusmenu"
	"rollcall/tray/model"
)

// The object paths of systray's item and menu.
const (
	itemPath = dbus.ObjectPath("/StatusNotifierItem")
	menuPath = itemPath + "/menu"
)

// run shows the tray over D-Bus. systray handles the icon, its registration and its tooltip. run serves the menu itself,
// because systray announces each change as a new layout, which closes an open menu in Qt panels, and does not notice
// when a GTK panel opens the menu.
func run(ctx context.Context, m *menu) error {
	shared, own, err := connect(ctx)
	if err != nil {
		return err
	}
	defer own.Close()

	first := m.first()
	systray.SetTitle("Rollcall") // systray uses the title as the item's id too
	systray.SetTooltip(first.tooltip)
	prepareIcon(first)
	systray.SetOnTapped(func() { m.openWindow("") })
	start, end := systray.RunWithExternalLoop(nil, nil)
	start()
	defer end()

	icon := &item{ctx: ctx, shared: shared, own: own, opts: &m.opts}
	icon.setIcon(first)
	server, err := dbusmenu.Export(shared, menuPath, widened(first.rows), dbusmenu.Handler{
		Opening: m.opening, Closed: m.closed, Clicked: func(id int32) { clicked(m, id) },
	})
	if err != nil {
		return err
	}
	show, stop := changes(m, server, icon, first)
	defer stop()
	defer m.start(show)()
	go watchHost(ctx, own, shared, &m.opts)

	select {
	case <-ctx.Done():
		return nil
	case <-shared.Context().Done():
	case <-own.Context().Done():
	}
	if ctx.Err() != nil {
		return nil
	}
	return ErrBusLost
}

// clicked carries out the action of a row. It delays quitting, which closes the connection, until the panel has received its answer.
func clicked(m *menu, id int32) {
	if id != idQuit {
		m.clicked(id)
		return
	}
	time.AfterFunc(50*time.Millisecond, func() { m.clicked(id) })
}

// changes returns a function that shows a view. The function sends only the differences from the last view: at once those of the rows, for which a
// panel that opens the menu waits, and on another goroutine those of the icon and the tooltip. stop ends that goroutine.
func changes(m *menu, server *dbusmenu.Server, icon *item, last view) (show func(view), stop func()) {
	next, done := make(chan view, 1), make(chan struct{})
	go func() {
		defer close(done)
		for v := range next {
			icon.show(last, v)
			last = v
		}
	}()
	show = func(v view) {
		if err := server.Update(widened(v.rows)); err != nil {
			m.opts.Log.Warn("tray: cannot update the menu", "error", err)
		}
		select {
		case <-next: // a view that this one replaces
		default:
		}
		next <- v
	}
	return show, func() {
		close(next)
		<-done
	}
}

// minWidth is the width of the white space that widens the menu, in em. GTK panels fix the width of a menu when it opens,
// and would clip a row that becomes wider.
const minWidth = 27

// widened returns the items with that white space in a row that is always there.
func widened(items []model.Item) []model.Item {
	out := slices.Clone(items)
	out[idOpen-1].Label += strings.Repeat("\u2003", minWidth)
	return out
}
