package assets_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"rollcall/assets"
	"rollcall/internal/must"
)

func load(t *testing.T, path string) image.Image {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return img
}

func TestEmbedded(t *testing.T) {
	if img, err := png.Decode(bytes.NewReader(assets.App)); err != nil || img.Bounds().Dx() != 256 {
		t.Errorf("application's icon: %v", err)
	}
	for _, s := range assets.States {
		icon := assets.Icon(s)
		if runtime.GOOS == "windows" {
			if !bytes.HasPrefix(icon, []byte{0, 0, 1, 0}) {
				t.Errorf("%v: not an ICO", s)
			}
			continue
		}
		if img, err := png.Decode(bytes.NewReader(icon)); err != nil || img.Bounds().Dx() != 48 {
			t.Errorf("%v: %v", s, err)
		}
		if got := assets.Template(s) != nil; got != (runtime.GOOS == "darwin") {
			t.Errorf("%v: template %v", s, got)
		}
	}
}

// Whoever sees no colours tells the states apart: as black shapes of 16 pixels
// they differ in a sixth of the picture at least.
func TestStatesDifferByShape(t *testing.T) {
	alpha := func(s assets.State, x, y int) float64 {
		_, _, _, a := load(t, fmt.Sprintf("template/%v.png", s)).At(x, y).RGBA()
		return float64(a) / 0xffff
	}
	for i, a := range assets.States {
		for _, b := range assets.States[i+1:] {
			sum := 0.0
			for p := range 256 {
				sum += math.Abs(alpha(a, p%16, p/16) - alpha(b, p%16, p/16))
			}
			if sum < 256/6 {
				t.Errorf("%v and %v differ in %.0f of 256 pixels only", a, b, sum)
			}
		}
	}
}

// The colours stand out against light and dark panels alike.
func TestContrast(t *testing.T) {
	panels := map[string]color.Color{"light": color.Gray{0xf5}, "dark": color.Gray{0x2e}, "black": color.Black}
	for _, s := range assets.States {
		img := load(t, fmt.Sprintf("png/%v-64.png", s))
		count := map[color.Color]int{}
		var most color.Color
		for y := range 64 {
			for x := range 64 {
				c := img.At(x, y)
				if _, _, _, a := c.RGBA(); a != 0xffff {
					continue
				}
				if count[c]++; count[c] > count[most] {
					most = c
				}
			}
		}
		for name, panel := range panels {
			if ratio := contrast(most, panel); ratio < 2.5 {
				t.Errorf("%v on a %s panel: contrast %.1f", s, name, ratio)
			}
		}
	}
}

// contrast returns WCAG's ratio, 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestICOSizes(t *testing.T) {
	for name, want := range map[string][]int{
		"quiet": {16, 20, 24, 32, 48}, "working": {16, 20, 24, 32, 48}, "needs-you": {16, 20, 24, 32, 48},
		"trouble": {16, 20, 24, 32, 48}, "rollcall": {16, 20, 24, 32, 48, 0}, // 0 is 256
	} {
		b := must.Get(os.ReadFile("ico/" + name + ".ico"))(t)
		if n := int(binary.LittleEndian.Uint16(b[4:])); n != len(want) {
			t.Errorf("%s: %d images", name, n)
			continue
		}
		for i, size := range want {
			entry := b[6+16*i:]
			if int(entry[0]) != size || binary.LittleEndian.Uint16(entry[6:]) != 32 {
				t.Errorf("%s: image %d is %d pixels wide with %d bits", name, i, entry[0], binary.LittleEndian.Uint16(entry[6:]))
			}
		}
	}
}

// What is committed is what the SVGs look like: an edited drawing without
// "go generate" is noticed. Versions of the renderer differ in edge pixels.
func TestDrawnFromSVG(t *testing.T) {
	must.Have(t, "rsvg-convert")
	svgs, err := filepath.Glob("svg/*.svg")
	if err != nil || len(svgs) != 5 {
		t.Fatalf("%v, %v", svgs, err)
	}
	for _, svg := range svgs {
		name := filepath.Base(svg[:len(svg)-len(".svg")])
		drawn := filepath.Join(t.TempDir(), "drawn.png")
		if out, err := exec.Command("rsvg-convert", "-w", "24", "-h", "24", "-o", drawn, svg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", svg, err, out)
		}
		a, b := load(t, drawn), load(t, fmt.Sprintf("png/%s-24.png", name))
		sum := 0.0
		for p := range 24 * 24 {
			r1, g1, b1, a1 := a.At(p%24, p/24).RGBA()
			r2, g2, b2, a2 := b.At(p%24, p/24).RGBA()
			for _, d := range []float64{float64(r1) - float64(r2), float64(g1) - float64(g2), float64(b1) - float64(b2), float64(a1) - float64(a2)} {
				sum += math.Abs(d) / 0xffff
			}
		}
		if sum > 20 {
			t.Errorf("%s differs from its pictures by %.0f: run go generate ./assets", svg, sum)
		}
	}
}
