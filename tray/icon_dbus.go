//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

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

// prepareIcon sets the icon that systray has when it registers.
func prepareIcon(v view) { systray.SetIcon(assets.Icon(v.icon)) }

// item is the tray's icon on the bus.
type item struct {
	ctx    context.Context
	shared *dbus.Conn // systray's connection, which exports the item
	own    *dbus.Conn
	opts   *Options
}

// show shows the icon and the tooltip of a view where they differ from the last ones.
func (i *item) show(last, v view) {
	if v.icon != last.icon || v.count != last.count {
		i.setIcon(v)
	}
	if v.tooltip != last.tooltip {
		systray.SetTooltip(v.tooltip)
	}
}

// setIcon shows the icon of a view in all sizes, so that panels can choose one. systray has one size only, so setIcon writes the
// property that systray exports, which is writable.
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

// The sizes of the badge with the number of sessions that wait, as shares of the icon's width.
const (
	badgeSize  = 0.62
	badgeDigit = 0.52
	mostCount  = 9 // a larger number does not fit into 22 pixels
)

var (
	badgeColor = color.NRGBA{R: 0xb3, G: 0x26, B: 0x1e, A: 0xff}
	digitColor = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
)

// iconOf returns the icon for a state at one of assets.Sizes, with the number of sessions that wait for the user. A number of two
// digits would not be legible in a panel, so numbers above 9 are shown as "+". If it returns an error, the icon has no number.
func iconOf(s assets.State, count, size int) (*image.NRGBA, error) {
	from, err := png.Decode(bytes.NewReader(assets.IconOf(s, size)))
	if err != nil {
		return image.NewNRGBA(image.Rect(0, 0, size, size)), fmt.Errorf("cannot read the tray's icon: %w", err)
	}
	out := image.NewNRGBA(from.Bounds())
	draw.Draw(out, out.Bounds(), from, from.Bounds().Min, draw.Src)
	if s != assets.NeedsYou || count < 1 {
		return out, nil
	}
	return out, drawBadge(out, count)
}

// drawBadge draws a disc with the number into the lower right corner.
func drawBadge(out *image.NRGBA, count int) error {
	width := float64(out.Bounds().Dx())
	radius := width * badgeSize / 2
	centre := width - radius
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			far := math.Hypot(float64(x)+0.5-centre, float64(y)+0.5-centre)
			if cover := min(max(radius-far+0.5, 0), 1); cover > 0 {
				out.SetNRGBA(x, y, mix(out.NRGBAAt(x, y), badgeColor, cover))
			}
		}
	}
	if count > mostCount {
		drawPlus(out, int(math.Round(centre)))
		return nil
	}
	return drawDigit(out, count, centre)
}

// drawPlus draws a plus sign on whole pixels: the plus sign of a font is illegible at 16 pixels.
func drawPlus(out *image.NRGBA, centre int) {
	width := float64(out.Bounds().Dx())
	arm, half := int(math.Round(width*0.19)), max(1, int(math.Round(width*0.045)))
	for _, r := range []image.Rectangle{
		image.Rect(centre-arm, centre-half, centre+arm, centre+half),
		image.Rect(centre-half, centre-arm, centre+half, centre+arm),
	} {
		draw.Draw(out, r, image.NewUniform(digitColor), image.Point{}, draw.Src)
	}
}

func drawDigit(out *image.NRGBA, digit int, centre float64) error {
	width := float64(out.Bounds().Dx())
	parsed, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return fmt.Errorf("cannot read the font of the tray's number: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: width * badgeDigit, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return fmt.Errorf("cannot read the font of the tray's number: %w", err)
	}
	defer func() { _ = face.Close() }()
	text := fmt.Sprint(digit)
	box, _ := font.BoundString(face, text)
	at := fixed.Point26_6{X: fixed.Int26_6(centre*64) - (box.Min.X+box.Max.X)/2, Y: fixed.Int26_6(centre*64) - (box.Min.Y+box.Max.Y)/2}
	(&font.Drawer{Dst: out, Src: image.NewUniform(digitColor), Face: face, Dot: at}).DrawString(text)
	return nil
}

// mix returns the colour that results when over covers a part of under.
func mix(under, over color.NRGBA, cover float64) color.NRGBA {
	alpha := float64(under.A)/255*(1-cover) + cover
	part := func(u, o uint8) uint8 {
		return uint8((float64(u)*float64(under.A)/255*(1-cover) + float64(o)*cover) / alpha)
	}
	return color.NRGBA{R: part(under.R, over.R), G: part(under.G, over.G), B: part(under.B, over.B), A: uint8(alpha * 255)}
}
