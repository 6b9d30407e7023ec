package ui

import (
	"image"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/theme"

	"rollcall/adapters"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// TestStatusIconsDifferByShape paints them all in one colour.
func TestStatusIconsDifferByShape(t *testing.T) {
	shapes := map[string]image.Image{}
	for name, s := range map[string]adapters.Session{
		"waiting": {State: adapters.State{Status: adapters.Waiting}}, "working": {State: adapters.State{Status: adapters.Working}}, "idle": {State: adapters.State{Status: adapters.Idle}},
		"unknown": {State: adapters.State{Status: adapters.Unknown}}, "stopped": {State: adapters.State{Status: adapters.Stopped}},
		"completed": {State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Completed}}, "died": {State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Died}},
	} {
		c := software.NewCanvas()
		c.SetPadded(false)
		i := widgets.NewImage(widgets.PlainIcon(facts.StatusIcon(&s).File), 16)
		c.SetContent(i)
		c.Resize(fyne.NewSquareSize(16))
		shapes[name] = c.Capture()
		if d := difference(shapes[name], image.NewUniform(widgets.ThemeColor(theme.ColorNameBackground))); d < 20 {
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
