package widgets

import (
	"bytes"
	"embed"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

//go:embed icons/*.svg
var iconFiles embed.FS

// Icon is an embedded SVG in a colour of the theme. It is no fyne.ThemedResource: Fyne recolours only filled shapes,
// and most of these icons consist of strokes.
type Icon struct {
	File  string // its name without the extension
	svg   []byte
	color fyne.ThemeColorName
}

var icons = make(map[string]*Icon)

// NewIcon returns the icon in that colour. It returns the same pointer for the same arguments, so that callers can
// compare icons.
func NewIcon(file string, color fyne.ThemeColorName) *Icon {
	key := file + " " + string(color)
	if i, ok := icons[key]; ok {
		return i
	}
	svg, err := iconFiles.ReadFile("icons/" + file + ".svg")
	if err != nil {
		panic(err) // names of icons are constants, so this is a bug
	}
	i := &Icon{file, svg, color}
	icons[key] = i
	return i
}

// PlainIcon returns the icon in the colour of the text.
func PlainIcon(file string) *Icon { return NewIcon(file, theme.ColorNameForeground) }

func (i *Icon) hex() string {
	r, g, b, _ := ThemeColor(i.color).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Name returns a name that contains the colour: Fyne caches images by name.
func (i *Icon) Name() string { return i.File + i.hex() + ".svg" }

// Content returns the SVG in the colour that the theme has now.
func (i *Icon) Content() []byte {
	return bytes.ReplaceAll(i.svg, []byte("currentColor"), []byte(i.hex()))
}

// NewImage shows an icon that is size wide and high, in Fyne's units. icon may be nil.
func NewImage(icon fyne.Resource, size float32) *canvas.Image {
	i := canvas.NewImageFromResource(icon)
	i.FillMode = canvas.ImageFillContain
	i.SetMinSize(fyne.NewSquareSize(size))
	return i
}

// SetImage shows another icon in an image.
func SetImage(i *canvas.Image, icon fyne.Resource) {
	if i.Resource != icon {
		i.Resource = icon
		i.Refresh()
	}
}
