//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"image"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"rollcall/assets"
)

const itemInterface = "org.kde.StatusNotifierItem"

// pixmap is an icon in one size, in the form of StatusNotifierItem: (iiay).
type pixmap struct {
	Width, Height int32
	Pixels        []byte // alpha, red, green, blue
}

func pixmapOf(icon *image.NRGBA) pixmap {
	p := pixmap{int32(icon.Rect.Dx()), int32(icon.Rect.Dy()), make([]byte, 0, len(icon.Pix))}
	for i := 0; i < len(icon.Pix); i += 4 {
		p.Pixels = append(p.Pixels, icon.Pix[i+3], icon.Pix[i], icon.Pix[i+1], icon.Pix[i+2])
	}
	return p
}

// prepareIcon sets the icon with which systray registers.
func prepareIcon(v view) { systray.SetIcon(assets.Icon(v.icon)) }

// item is the tray's icon on the bus.
type item struct {
	ctx    context.Context
	shared *dbus.Conn // systray's connection, which has the item
	own    *dbus.Conn
	opts   *Options
}

// setIcon shows the icon of a view in all sizes, from which panels choose. systray has one size only, so setIcon sets the property
// that systray serves, which may be written.
func (i *item) setIcon(v view) {
	pixmaps := make([]pixmap, 0, len(assets.Sizes))
	for _, size := range assets.Sizes {
		icon, err := iconOf(v.icon, v.count, size)
		if err != nil {
			i.opts.Log.Warn("tray: the icon has no number", "error", err)
		}
		pixmaps = append(pixmaps, pixmapOf(icon))
	}
	ctx, cancel := context.WithTimeout(i.ctx, callLimit)
	defer cancel()
	err := i.own.Object(i.shared.Names()[0], itemPath).
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Set", 0, itemInterface, "IconPixmap", dbus.MakeVariant(pixmaps)).Err
	if err == nil {
		err = i.shared.Emit(itemPath, itemInterface+".NewIcon")
	}
	if err != nil {
		i.opts.Log.Warn("tray: cannot show the icon", "error", err)
	}
}
