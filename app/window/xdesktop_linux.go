//go:build !headless

package window

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// xDesktop has settings of the desktop that programs read from its X server. Xwayland provides them too.
type xDesktop struct {
	theme string  // Net/ThemeName of XSETTINGS; empty: not set
	dpi   float64 // of fonts: Xft.dpi of the resources, else Xft/DPI of XSETTINGS; 0: not set
}

// readXDesktop reads the settings from the X server of DISPLAY. It returns the zero value if there is no X server.
func readXDesktop() (d xDesktop) {
	display := os.Getenv("DISPLAY")
	if display == "" {
		return d
	}
	x, err := xgb.NewConnDisplay(display)
	if err != nil {
		return d
	}
	defer x.Close()
	screen := xproto.Setup(x).DefaultScreen(x)
	d.dpi = fontDPI(string(xProperty(x, screen.Root, xproto.AtomResourceManager)))
	manager, err := xproto.GetSelectionOwner(x, xAtom(x, fmt.Sprint("_XSETTINGS_S", x.DefaultScreen))).Reply()
	if err != nil || manager.Owner == xproto.WindowNone {
		return d
	}
	settings := parseXSettings(xProperty(x, manager.Owner, xAtom(x, "_XSETTINGS_SETTINGS")))
	d.theme, _ = settings["Net/ThemeName"].(string)
	if n, ok := settings["Xft/DPI"].(int32); ok && d.dpi == 0 {
		d.dpi = float64(n) / 1024
	}
	return d
}

func xAtom(x *xgb.Conn, name string) xproto.Atom {
	reply, err := xproto.InternAtom(x, false, uint16(len(name)), name).Reply()
	if err != nil {
		return xproto.AtomNone
	}
	return reply.Atom
}

// xProperty returns a property of up to 1 MB, nil if the window has none.
func xProperty(x *xgb.Conn, w xproto.Window, name xproto.Atom) []byte {
	reply, err := xproto.GetProperty(x, false, w, name, xproto.GetPropertyTypeAny, 0, 1<<18).Reply()
	if err != nil {
		return nil
	}
	return reply.Value
}

// fontDPI returns Xft.dpi of the resources of an X server; 0: not set.
func fontDPI(resources string) float64 {
	for line := range strings.Lines(resources) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "Xft.dpi" {
			dpi, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err == nil {
				return dpi
			}
		}
	}
	return 0
}

// The types of values in XSETTINGS.
const (
	xInteger = 0
	xString  = 1
	xColor   = 2
)

// parseXSettings returns the integers and texts of XSETTINGS (freedesktop.org, version 0.5). It stops at the first error in data.
func parseXSettings(data []byte) map[string]any {
	settings := map[string]any{}
	if len(data) < 12 {
		return settings
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 1 {
		order = binary.BigEndian
	}
	r := xReader{data: data[12:], order: order}
	for range order.Uint32(data[8:]) {
		head := r.take(4)
		if head == nil {
			break
		}
		name := string(r.padded(int(order.Uint16(head[2:]))))
		r.take(4) // the serial number of the setting's last change
		switch head[0] {
		case xInteger:
			settings[name] = int32(r.number())
		case xString:
			settings[name] = string(r.padded(int(r.number())))
		case xColor:
			r.take(8)
		default:
			return settings
		}
		if r.short {
			delete(settings, name)
			break
		}
	}
	return settings
}

// xReader reads the parts of a message in order, and remembers whether the message ended within one.
type xReader struct {
	data  []byte
	order binary.ByteOrder
	short bool
}

func (r *xReader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.short, r.data = true, nil
		return nil
	}
	part := r.data[:n]
	r.data = r.data[n:]
	return part
}

func (r *xReader) number() uint32 {
	if part := r.take(4); part != nil {
		return r.order.Uint32(part)
	}
	return 0
}

// padded reads n bytes and the padding after them up to a multiple of four.
func (r *xReader) padded(n int) []byte {
	part := r.take(n)
	r.take(-n & 3)
	return part
}
