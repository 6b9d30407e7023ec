package ui

import (
	"image"
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"rollcall/adapters"
)

// luminance and contrast are WCAG 2's.
func luminance(c color.NRGBA) float64 {
	part := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// over is c painted over an opaque background.
func over(c, back color.NRGBA) color.NRGBA {
	mix := func(x, y uint8) uint8 { return uint8((int(x)*int(c.A) + int(y)*(255-int(c.A))) / 255) }
	return color.NRGBA{R: mix(c.R, back.R), G: mix(c.G, back.G), B: mix(c.B, back.B), A: 255}
}

func TestTextIsReadable(t *testing.T) {
	texts := []fyne.ThemeColorName{theme.ColorNameForeground, theme.ColorNameDisabled, theme.ColorNamePlaceHolder, theme.ColorNameHyperlink,
		theme.ColorNameError, theme.ColorNameWarning, theme.ColorNameSuccess, colorMuted, colorWaiting, colorWorking, colorGood, colorBad}
	backs := []fyne.ThemeColorName{theme.ColorNameBackground, theme.ColorNameInputBackground, theme.ColorNameButton,
		theme.ColorNameDisabledButton, theme.ColorNameOverlayBackground, theme.ColorNameMenuBackground, colorPanel, colorRowOn}
	on := map[fyne.ThemeColorName]fyne.ThemeColorName{
		theme.ColorNameForegroundOnPrimary: theme.ColorNamePrimary, theme.ColorNameForegroundOnError: theme.ColorNameError,
		theme.ColorNameForegroundOnWarning: theme.ColorNameWarning, theme.ColorNameForegroundOnSuccess: theme.ColorNameSuccess,
	}
	for name, p := range map[string]palette{"light": light, "dark": dark} {
		for _, fg := range texts {
			for _, bg := range backs {
				if c := contrast(p[fg], p[bg]); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, fg, bg, c)
				}
				if c := contrast(p[fg], over(p[theme.ColorNameHover], p[bg])); c < 4.5 && bg == theme.ColorNameBackground {
					t.Errorf("%s: %s on a hovered row has a contrast of %.2f", name, fg, c)
				}
			}
		}
		for fg, bg := range on {
			if c := contrast(p[fg], p[bg]); c < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", name, fg, bg, c)
			}
		}
		if c := contrast(p[theme.ColorNameInputBorder], p[theme.ColorNameBackground]); c < 3 {
			t.Errorf("%s: borders of fields have a contrast of %.2f", name, c)
		}
	}
	for name := range light {
		if _, ok := dark[name]; !ok {
			t.Errorf("%s is missing in dark", name)
		}
	}
	if len(light) != len(dark) {
		t.Errorf("%d colours in light, %d in dark", len(light), len(dark))
	}
}

// TestStatusIconsDifferByShape paints them all in one colour.
func TestStatusIconsDifferByShape(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(Theme{Variant: &lightVariant})
	shapes := map[string]image.Image{}
	for name, s := range map[string]adapters.Session{
		"waiting": {Status: adapters.Waiting}, "working": {Status: adapters.Working}, "idle": {Status: adapters.Idle},
		"unknown": {Status: adapters.Unknown}, "stopped": {Status: adapters.Stopped},
		"completed": {Status: adapters.Stopped, Outcome: adapters.Completed}, "died": {Status: adapters.Stopped, Outcome: adapters.Died},
	} {
		c := software.NewCanvas()
		c.SetPadded(false)
		i := canvas.NewImageFromResource(newIcon(statusIcon(&s).file, theme.ColorNameForeground))
		i.SetMinSize(fyne.NewSquareSize(16))
		c.SetContent(i)
		c.Resize(fyne.NewSquareSize(16))
		shapes[name] = c.Capture()
		if d := difference(shapes[name], image.NewUniform(light[theme.ColorNameBackground])); d < 20 {
			t.Errorf("%s: the icon is empty (%d)", name, d)
		}
	}
	for a, x := range shapes {
		for b, y := range shapes {
			if d := difference(x, y); a < b && d < 25 {
				t.Errorf("%s and %s differ in %d of 256 pixels only", a, b, d)
			}
		}
	}
}

// difference counts the pixels that differ clearly.
func difference(a, b image.Image) int {
	n := 0
	for y := range 16 {
		for x := range 16 {
			r1, _, _, _ := a.At(x, y).RGBA()
			r2, _, _, _ := b.At(x, y).RGBA()
			if max(r1, r2)-min(r1, r2) > 0x6000 {
				n++
			}
		}
	}
	return n
}

func TestEveryIconFollowsTheTheme(t *testing.T) {
	a := test.NewTempApp(t)
	files, err := iconFiles.ReadDir("icons")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()[:len(f.Name())-len(".svg")]
		a.Settings().SetTheme(Theme{Variant: &lightVariant})
		i := newIcon(name, colorWorking)
		was, wasName := string(i.Content()), i.Name()
		a.Settings().SetTheme(Theme{Variant: &darkVariant})
		if was == string(i.Content()) || wasName == i.Name() {
			t.Errorf("%s is the same in light and dark", name)
		}
	}
}
