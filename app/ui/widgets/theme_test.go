package widgets

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
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
		theme.ColorNameError, theme.ColorNameWarning, theme.ColorNameSuccess, ColorMuted, ColorWaiting, ColorWorking, ColorGood, ColorBad}
	backs := []fyne.ThemeColorName{theme.ColorNameBackground, theme.ColorNameInputBackground, theme.ColorNameButton,
		theme.ColorNameDisabledButton, theme.ColorNameOverlayBackground, theme.ColorNameMenuBackground, ColorPanel, ColorRowOn}
	on := map[fyne.ThemeColorName]fyne.ThemeColorName{
		theme.ColorNameForegroundOnPrimary: theme.ColorNamePrimary, theme.ColorNameForegroundOnError: theme.ColorNameError,
		theme.ColorNameForegroundOnWarning: theme.ColorNameWarning, theme.ColorNameForegroundOnSuccess: theme.ColorNameSuccess,
		theme.ColorNameForeground: ColorHit,
	}
	for name, variant := range map[string]fyne.ThemeVariant{"light": theme.VariantLight, "dark": theme.VariantDark} {
		p := map[fyne.ThemeColorName]color.NRGBA{}
		for c := range colors {
			p[c] = Theme{Variant: &variant}.Color(c, 0).(color.NRGBA)
		}
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
		for i, part := range ChartColors {
			if c := contrast(p[part], p[theme.ColorNameBackground]); c < 3 {
				t.Errorf("%s: part %d of a bar has a contrast of %.2f", name, i, c)
			}
			if c := contrast(p[part], p[ColorCache]); part != ColorCache && c < 1.9 {
				t.Errorf("%s: part %d of a bar has a contrast of %.2f with that of the cache", name, i, c)
			}
		}
	}
}

func TestEveryIconFollowsTheTheme(t *testing.T) {
	a := test.NewTempApp(t)
	lightVariant := theme.VariantLight
	darkVariant := theme.VariantDark
	files, err := iconFiles.ReadDir("icons")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()[:len(f.Name())-len(".svg")]
		a.Settings().SetTheme(Theme{Variant: &lightVariant})
		i := NewIcon(name, ColorWorking)
		was, wasName := string(i.Content()), i.Name()
		a.Settings().SetTheme(Theme{Variant: &darkVariant})
		if was == string(i.Content()) || wasName == i.Name() {
			t.Errorf("%s is the same in light and dark", name)
		}
	}
}
