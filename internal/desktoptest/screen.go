//go:build linux

package desktoptest

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// ErrNoIcon says that the panel shows no icon in its tray.
var ErrNoIcon = errors.New("no icon in the tray")

// Image returns what the screen shows now, without the pointer.
func (d *Desktop) Image() (*image.RGBA, error) {
	return d.grab(image.Rectangle{Max: d.opts.Size})
}

func (d *Desktop) grab(r image.Rectangle) (*image.RGBA, error) { return grab(d.x, d.root(), r) }

// grab reads a part of a window that covers the screen.
func grab(x *xgb.Conn, root xproto.Window, r image.Rectangle) (*image.RGBA, error) {
	got, err := xproto.GetImage(x, xproto.ImageFormatZPixmap, xproto.Drawable(root),
		int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), 0xffffffff).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the screen: %w", err)
	}
	out := image.NewRGBA(r)
	if len(got.Data) < len(out.Pix) {
		return nil, fmt.Errorf("read the screen: %d bytes for %v", len(got.Data), r)
	}
	convert(out.Pix, got.Data)
	return out, nil
}

// convert stores the pixels of an X server (B, G, R, unused) as R, G, B, A. Each of its bytes would be a call of the race detector,
// and tests read the screen a thousand times.
//
//go:norace
func convert(to, from []byte) {
	for i := 0; i+4 <= len(to); i += 4 {
		to[i], to[i+1], to[i+2], to[i+3] = from[i+2], from[i+1], from[i], 0xff
	}
}

// ScreenshotDisplay writes what the screen of an X server shows as PNG to path. The server needs 24 bits per pixel, as those of
// this package have.
func ScreenshotDisplay(display, path string) error {
	x, err := xgb.NewConnDisplay(display)
	if err != nil {
		return fmt.Errorf("display %s: %w", display, err)
	}
	defer x.Close()
	screen := xproto.Setup(x).DefaultScreen(x)
	img, err := grab(x, screen.Root, image.Rect(0, 0, int(screen.WidthInPixels), int(screen.HeightInPixels)))
	if err != nil {
		return err
	}
	return writePNG(path, img)
}

// Screenshot writes what the screen shows as PNG to path, and makes its folder.
func (d *Desktop) Screenshot(path string) error {
	img, err := d.Image()
	if err != nil {
		return err
	}
	return writePNG(path, img)
}

// ScreenshotOf writes a screenshot of a part of the screen.
func (d *Desktop) ScreenshotOf(path string, part image.Rectangle) error {
	img, err := d.Image()
	if err != nil {
		return err
	}
	cut := image.NewRGBA(image.Rectangle{Max: part.Intersect(img.Rect).Size()})
	draw.Draw(cut, cut.Rect, img, part.Intersect(img.Rect).Min, draw.Src)
	return writePNG(path, cut)
}

func writePNG(path string, img image.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // tests with the race detector make hundreds
	if err := encoder.Encode(f, img); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}

// Click moves the pointer to a place on the screen and presses and releases a
// button there: 1 left, 2 middle, 3 right, 4 and 5 the wheel.
func (d *Desktop) Click(x, y, button int) error {
	if err := d.Move(x, y); err != nil {
		return err
	}
	for _, kind := range []byte{xproto.ButtonPress, xproto.ButtonRelease} {
		if err := xtest.FakeInputChecked(d.x, kind, byte(button), 0, d.root(), 0, 0, 0).Check(); err != nil {
			return fmt.Errorf("click: %w", err)
		}
	}
	return nil
}

// Move moves the pointer.
func (d *Desktop) Move(x, y int) error {
	err := xtest.FakeInputChecked(d.x, xproto.MotionNotify, 0, 0, d.root(), int16(x), int16(y), 0).Check()
	if err != nil {
		return fmt.Errorf("move the pointer: %w", err)
	}
	return nil
}

// Key presses keys one after the other, named as xdotool does: "Escape", "Down",
// "ctrl+q".
func (d *Desktop) Key(ctx context.Context, keys ...string) error {
	return d.xdotool(ctx, append([]string{"key", "--clearmodifiers", "--"}, keys...)...)
}

// Type types text into the window that has the focus.
func (d *Desktop) Type(ctx context.Context, text string) error {
	return d.xdotool(ctx, "type", "--clearmodifiers", "--", text)
}

func (d *Desktop) xdotool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "xdotool", args...)
	cmd.Env = d.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("xdotool %s: %w: %s", args[0], err, out)
	}
	return nil
}

// TrayIcon waits until the tray shows an icon that stays where it is, and
// returns the middle of it: the place to click. With several icons it is the
// leftmost. ErrNoIcon when ctx is done first.
func (d *Desktop) TrayIcon(ctx context.Context) (image.Point, error) {
	var last image.Rectangle
	for {
		icons, err := d.TrayIcons()
		if err != nil {
			return image.Point{}, err
		}
		if len(icons) > 0 {
			if icons[0] == last {
				return last.Min.Add(last.Size().Div(2)), nil
			}
			last = icons[0]
		}
		// Pixels send no event.
		select {
		case <-time.After(25 * time.Millisecond):
		case <-ctx.Done():
			return image.Point{}, fmt.Errorf("%w of %s: %w", ErrNoIcon, d.opts.Panel, ctx.Err())
		}
	}
}

// TrayIcons returns the places on the screen where the tray shows icons now, from
// left to right: what differs from the panel's background.
func (d *Desktop) TrayIcons() ([]image.Rectangle, error) {
	panel, err := d.dock()
	if err != nil || panel.Empty() {
		return nil, err
	}
	img, err := d.grab(panel.Intersect(image.Rectangle{Max: d.opts.Size}))
	if err != nil {
		return nil, err
	}
	return icons(img), nil
}

// icons finds what stands out of a panel whose background is the same along
// each line. Things narrower or lower than 5 pixels are decoration; a gap of
// less than 5 pixels does not part an icon in two.
func icons(img *image.RGBA) []image.Rectangle {
	const least = 5
	var out []image.Rectangle
	background := make([][3]uint8, img.Rect.Dy())
	for y := range background {
		background[y] = common(img, img.Rect.Min.Y+y)
	}
	for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
		column := image.Rectangle{}
		for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
			if differs(img, x, y, background[y-img.Rect.Min.Y]) {
				column = column.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		switch {
		case column.Empty():
		case len(out) > 0 && x-out[len(out)-1].Max.X < least:
			out[len(out)-1] = out[len(out)-1].Union(column)
		default:
			out = append(out, column)
		}
	}
	return slices.DeleteFunc(out, func(r image.Rectangle) bool { return r.Dx() < least || r.Dy() < least })
}

// common returns the colour that most pixels of a line have.
func common(img *image.RGBA, y int) [3]uint8 {
	count := map[[3]uint8]int{}
	var most [3]uint8
	for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
		i := img.PixOffset(x, y)
		c := [3]uint8(img.Pix[i : i+3])
		if count[c]++; count[c] > count[most] {
			most = c
		}
	}
	return most
}

func differs(img *image.RGBA, x, y int, from [3]uint8) bool {
	i := img.PixOffset(x, y)
	for c := range 3 {
		if d := int(img.Pix[i+c]) - int(from[c]); d > 24 || d < -24 {
			return true
		}
	}
	return false
}
