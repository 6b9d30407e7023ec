//go:build !headless

package window

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// xSettings are the bytes of XSETTINGS that a settings daemon would write.
func xSettings(order binary.AppendByteOrder, first byte, theme string, dpi uint32) []byte {
	text := func(b []byte, s string) []byte {
		b = append(b, s...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return b
	}
	head := func(b []byte, kind byte, name string) []byte {
		b = order.AppendUint16(append(b, kind, 0), uint16(len(name)))
		return order.AppendUint32(text(b, name), 7)
	}
	b := order.AppendUint32(order.AppendUint32([]byte{first, 0, 0, 0}, 1), 3)
	b = append(head(b, xColor, "Some/Colour"), 1, 2, 3, 4, 5, 6, 7, 8)
	b = text(order.AppendUint32(head(b, xString, "Net/ThemeName"), uint32(len(theme))), theme)
	return order.AppendUint32(head(b, xInteger, "Xft/DPI"), dpi)
}

func TestParseXSettings(t *testing.T) {
	want := map[string]any{"Net/ThemeName": "Mint-Y-Dark", "Xft/DPI": int32(196608)}
	for _, data := range [][]byte{xSettings(binary.LittleEndian, 0, "Mint-Y-Dark", 196608), xSettings(binary.BigEndian, 1, "Mint-Y-Dark", 196608)} {
		if got := parseXSettings(data); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		for n := range data { // what is cut off has no value, and harms nothing
			for name, value := range parseXSettings(data[:n]) {
				if value != want[name] {
					t.Errorf("the first %d bytes: %s is %v", n, name, value)
				}
			}
		}
	}
}

// What X programs are told counts where the files of KDE and GTK say nothing.
func TestXDesktop(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Scale: 2})
	for _, e := range d.Env() {
		if len(e) > 8 && e[:8] == "DISPLAY=" {
			t.Setenv("DISPLAY", e[8:])
		}
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if got := readXDesktop(); got != (xDesktop{dpi: 192}) || isDarkBySettings() {
		t.Errorf("without a settings daemon: %+v", got)
	}
	x := must.Get(xgb.NewConnDisplay(os.Getenv("DISPLAY")))(t)
	defer x.Close()
	screen := xproto.Setup(x).DefaultScreen(x)
	w := must.Get(xproto.NewWindowId(x))(t)
	data := xSettings(binary.LittleEndian, 0, "Mint-Y-Dark-Aqua", 144*1024)
	for _, c := range []interface{ Check() error }{
		xproto.CreateWindowChecked(x, 0, w, screen.Root, 0, 0, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil),
		xproto.ChangePropertyChecked(x, xproto.PropModeReplace, w, xAtom(x, "_XSETTINGS_SETTINGS"), xAtom(x, "_XSETTINGS_SETTINGS"), 8, uint32(len(data)), data),
		xproto.SetSelectionOwnerChecked(x, w, xAtom(x, fmt.Sprint("_XSETTINGS_S", x.DefaultScreen)), 0),
	} {
		must.Do(t, c.Check())
	}
	if got := readXDesktop(); got != (xDesktop{theme: "Mint-Y-Dark-Aqua", dpi: 192}) || !isDarkBySettings() {
		t.Errorf("with a settings daemon: %+v", got)
	}
	must.Do(t, xproto.DeletePropertyChecked(x, screen.Root, xproto.AtomResourceManager).Check())
	if got := readXDesktop(); got.dpi != 144 {
		t.Errorf("without resources: %+v", got)
	}
}
