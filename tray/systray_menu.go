//go:build windows || darwin

package tray

import (
	"context"

	"fyne.io/systray"
	"rollcall/assets"
	"rollcall/tray/model"
)

// nativeMenu is the menu that systray draws. Its rows are created once.
type nativeMenu struct {
	items   []*systray.MenuItem // nil: the row is a separator
	shown   []model.Item
	last    view
	started bool
	label   func(string) string // escapes for the platform
	count   func(n int)         // shows the number beside the icon; may be nil
}

// newNativeMenu creates the rows and shows v. It must be called after systray is ready.
func newNativeMenu(m *menu, v view, label func(string) string, count func(int)) *nativeMenu {
	n := &nativeMenu{label: label, count: count, shown: make([]model.Item, len(v.rows))}
	for i, r := range v.rows {
		if r.Separator {
			systray.AddSeparator()
			n.items = append(n.items, nil)
			n.shown[i] = r
			continue
		}
		var item *systray.MenuItem
		if r.Parent != 0 {
			item = n.items[r.Parent-1].AddSubMenuItem(label(r.Label), "")
		} else {
			item = systray.AddMenuItem(label(r.Label), "")
		}
		n.items = append(n.items, item)
		n.shown[i] = model.Item{ID: r.ID, Label: r.Label, Parent: r.Parent}
		go func() {
			for range item.ClickedCh { // ends when systray drops the item
				m.clicked(r.ID)
			}
		}()
	}
	n.show(v)
	return n
}

// show updates the parts that differ from the last view.
func (n *nativeMenu) show(v view) {
	if !n.started || v.icon != n.last.icon {
		systray.SetTemplateIcon(assets.Template(v.icon), assets.Icon(v.icon))
	}
	if !n.started || v.tooltip != n.last.tooltip {
		systray.SetTooltip(v.tooltip)
	}
	if n.count != nil && v.count != n.last.count {
		n.count(v.count)
	}
	for i, r := range v.rows {
		if r != n.shown[i] && n.items[i] != nil {
			n.set(n.items[i], n.shown[i], r)
			n.shown[i] = r
		}
	}
	n.last, n.started = v, true
}

// set updates one row. It does not touch a row that stays hidden: on Windows a new title would show the row.
func (n *nativeMenu) set(item *systray.MenuItem, old, now model.Item) {
	if now.Hidden {
		if !old.Hidden {
			item.Hide()
		}
		return
	}
	if old.Hidden {
		item.Show()
	}
	if old.Label != now.Label || old.Hidden {
		item.SetTitle(n.label(now.Label))
	}
	switch {
	case now.Disabled && !item.Disabled():
		item.Disable()
	case !now.Disabled && item.Disabled():
		item.Enable()
	}
}

// HasHost reports whether the desktop shows tray icons. Here it always does.
func HasHost(context.Context) (bool, error) { return true, nil }
