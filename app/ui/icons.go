package ui

import (
	"bytes"
	"embed"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"rollcall/adapters"
)

//go:embed icons/*.svg
var iconFiles embed.FS

// icon is an embedded SVG in a colour of the theme. It is no
// fyne.ThemedResource: Fyne recolours only what is filled, and most of these
// are strokes.
type icon struct {
	file  string
	svg   []byte
	color fyne.ThemeColorName
}

var icons = make(map[string]*icon)

// newIcon returns the icon in that colour, always the same one, so that images
// can tell whether theirs has changed. Only the UI goroutine calls it.
func newIcon(file string, color fyne.ThemeColorName) *icon {
	key := file + " " + string(color)
	if i, ok := icons[key]; ok {
		return i
	}
	svg, err := iconFiles.ReadFile("icons/" + file + ".svg")
	if err != nil {
		panic(err) // the names are this package's own
	}
	i := &icon{file, svg, color}
	icons[key] = i
	return i
}

func (i *icon) hex() string {
	r, g, b, _ := themeColor(i.color).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Name tells the colours apart: Fyne caches pictures by it.
func (i *icon) Name() string { return i.file + i.hex() + ".svg" }

// Content is the SVG in the colour that the theme has now.
func (i *icon) Content() []byte {
	return bytes.ReplaceAll(i.svg, []byte("currentColor"), []byte(i.hex()))
}

// statusIcon is the sign of what a session does. The signs differ by shape.
func statusIcon(s *adapters.Session) *icon {
	switch s.Status {
	case adapters.Waiting:
		return newIcon("waiting", colorWaiting)
	case adapters.Working:
		return newIcon("working", colorWorking)
	case adapters.Idle:
		if s.Outcome == adapters.Failed {
			return newIcon("idle", colorBad)
		}
		return newIcon("idle", colorMuted)
	case adapters.Stopped:
		switch s.Outcome {
		case adapters.Completed:
			return newIcon("done", colorGood)
		case adapters.Failed, adapters.Died:
			return newIcon("failed", colorBad)
		}
		return newIcon("stopped", colorMuted)
	}
	return newIcon("unknown", colorMuted)
}

// statusColor is the colour of the words that say what a session does.
func statusColor(s *adapters.Session) fyne.ThemeColorName {
	switch {
	case s.Status == adapters.Waiting:
		return colorWaiting
	case s.Status == adapters.Working:
		return colorWorking
	case s.Outcome == adapters.Failed, s.Outcome == adapters.Died:
		return colorBad
	}
	return colorMuted
}

// plainIcon is an icon in the colour of the text.
func plainIcon(file string) fyne.Resource { return newIcon(file, theme.ColorNameForeground) }
