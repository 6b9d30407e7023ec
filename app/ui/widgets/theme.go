package widgets

import (
	"bytes"
	"embed"
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// The colours of Fyne as Rollcall uses them, and those that Rollcall adds. Each text colour is readable on the window's background, on a selected row
// and on a panel: TestTextIsReadable computes the contrasts.
const (
	ColorMuted                       = theme.ColorNamePlaceHolder // secondary text
	ColorWaiting                     = theme.ColorNameWarning     // needs the user
	ColorWorking                     = theme.ColorNamePrimary
	ColorGood                        = theme.ColorNameSuccess
	ColorBad                         = theme.ColorNameError
	ColorPanel                       = theme.ColorNameHeaderBackground // behind banners, cards and code
	ColorRowOn   fyne.ThemeColorName = "rollcall-row-on"
	ColorHit     fyne.ThemeColorName = "rollcall-hit"   // behind what the user searches for
	ColorTrack   fyne.ThemeColorName = "rollcall-track" // the empty part of a bar
	ColorCache   fyne.ThemeColorName = "rollcall-cache" // the part of a bar that was read from a cache or written to one
)

// SizeSmall is a size of text between Fyne's text and caption.
const SizeSmall fyne.ThemeSizeName = "rollcall-small"

// shades is a colour in its light and its dark variant.
type shades struct{ light, dark color.NRGBA }

// rgba returns the colour of eight hexadecimal digits. rgb returns the opaque colour of six hexadecimal digits.
func rgba(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 24), G: uint8(hex >> 16), B: uint8(hex >> 8), A: uint8(hex)}
}

func rgb(hex uint32) color.NRGBA { return rgba(hex<<8 | 0xff) }

var colors = map[fyne.ThemeColorName]shades{
	theme.ColorNameBackground:          {rgb(0xffffff), rgb(0x16191e)},
	theme.ColorNameForeground:          {rgb(0x1c2128), rgb(0xe8ebf0)},
	theme.ColorNameDisabled:            {rgb(0x5b6572), rgb(0x9aa4b2)},
	theme.ColorNamePlaceHolder:         {rgb(0x5b6572), rgb(0x9aa4b2)},
	theme.ColorNameButton:              {rgb(0xeef1f5), rgb(0x282d36)},
	theme.ColorNameDisabledButton:      {rgb(0xf4f6f8), rgb(0x1f232a)},
	theme.ColorNameInputBackground:     {rgb(0xf6f8fa), rgb(0x1e2229)},
	theme.ColorNameInputBorder:         {rgb(0x8a94a1), rgb(0x6b7583)},
	theme.ColorNameSeparator:           {rgb(0xdfe4ea), rgb(0x2c323b)},
	theme.ColorNameHover:               {rgba(0x1c21280d), rgba(0xffffff0f)},
	theme.ColorNamePressed:             {rgba(0x1c21281a), rgba(0xffffff1f)},
	theme.ColorNameFocus:               {rgba(0x0a5bd338), rgba(0x7ab2ff4d)},
	theme.ColorNameSelection:           {rgba(0x0a5bd338), rgba(0x7ab2ff4d)},
	theme.ColorNamePrimary:             {rgb(0x0a5bd3), rgb(0x7ab2ff)},
	theme.ColorNameForegroundOnPrimary: {rgb(0xffffff), rgb(0x0d1420)},
	theme.ColorNameHyperlink:           {rgb(0x0a5bd3), rgb(0x7ab2ff)},
	theme.ColorNameError:               {rgb(0xb3261e), rgb(0xff8a80)},
	theme.ColorNameForegroundOnError:   {rgb(0xffffff), rgb(0x1d0b09)},
	theme.ColorNameWarning:             {rgb(0x8a5200), rgb(0xf0b64b)},
	theme.ColorNameForegroundOnWarning: {rgb(0xffffff), rgb(0x1c1403)},
	theme.ColorNameSuccess:             {rgb(0x17702f), rgb(0x63d489)},
	theme.ColorNameForegroundOnSuccess: {rgb(0xffffff), rgb(0x06150b)},
	theme.ColorNameHeaderBackground:    {rgb(0xf6f8fa), rgb(0x1e2229)},
	theme.ColorNameMenuBackground:      {rgb(0xffffff), rgb(0x242932)},
	theme.ColorNameOverlayBackground:   {rgb(0xffffff), rgb(0x1e2229)},
	theme.ColorNameScrollBar:           {rgba(0x1c212866), rgba(0xffffff66)},
	theme.ColorNameScrollBarBackground: {rgb(0xeef1f5), rgb(0x242932)},
	theme.ColorNameShadow:              {rgba(0x1c21281c), rgba(0x00000080)},
	ColorRowOn:                         {rgb(0xe6effc), rgb(0x24344c)},
	ColorHit:                           {rgb(0xffe49a), rgb(0x5c4a12)},
	ColorTrack:                         {rgb(0xdfe4ea), rgb(0x343b46)},
	ColorCache:                         {rgb(0x7d93b5), rgb(0x56698a)},
}

var sizes = map[fyne.ThemeSizeName]float32{
	theme.SizeNameText:           13,
	SizeSmall:                    12,
	theme.SizeNameCaptionText:    11,
	theme.SizeNameSubHeadingText: 16,
	theme.SizeNameHeadingText:    19,
	theme.SizeNamePadding:        4,
	theme.SizeNameInnerPadding:   6,
	theme.SizeNameLineSpacing:    3,
	theme.SizeNameInlineIcon:     16,
	theme.SizeNameScrollBar:      10,
	theme.SizeNameScrollBarSmall: 4,
	theme.SizeNameSplitThickness: 5,
	theme.SizeNameInputRadius:    6,
	theme.SizeNameButtonRadius:   6,
}

// Theme is Rollcall's compact theme. The zero value follows the system's choice of light or dark.
type Theme struct {
	// Variant, when set, overrides the system's choice.
	Variant *fyne.ThemeVariant
}

var _ fyne.Theme = Theme{}

// Color returns Rollcall's colour for name, or Fyne's colour if Rollcall has none.
func (t Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if t.Variant != nil {
		variant = *t.Variant
	}
	c, ok := colors[name]
	switch {
	case ok && variant == theme.VariantLight:
		return c.light
	case ok:
		return c.dark
	}
	return theme.DefaultTheme().Color(name, variant)
}

// The symbols that Fyne's own fonts lack. fonts/generate.sh makes both files.
var (
	//go:embed fonts/symbols.ttf
	symbols []byte
	//go:embed fonts/symbols-mono.ttf
	monoSymbols []byte

	symbolFont     = fyne.NewStaticResource("rollcall-symbols.ttf", symbols)
	monoSymbolFont = fyne.NewStaticResource("rollcall-symbols-mono.ttf", monoSymbols)
)

// Font returns a font that has only symbols. Fyne 2.8.1 looks for each character first in it, then in its own fonts and then in those of the system, and has no
// other way to add a font.
func (Theme) Font(style fyne.TextStyle) fyne.Resource {
	switch {
	case style.Symbol:
		return theme.DefaultTheme().Font(style)
	case style.Monospace:
		return monoSymbolFont
	}
	return symbolFont
}

// Icon returns Fyne's own icons; the statuses' icons are not part of a theme.
func (Theme) Icon(name fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(name) }

// Size returns the compact sizes, in Fyne's units.
func (Theme) Size(name fyne.ThemeSizeName) float32 {
	if s, ok := sizes[name]; ok {
		return s
	}
	return theme.DefaultTheme().Size(name)
}

// TextSize returns a size of Rollcall's theme, in Fyne's units.
func TextSize(name fyne.ThemeSizeName) float32 { return sizes[name] }

// ThemeColor returns the colour called name in the theme that is in use.
func ThemeColor(name fyne.ThemeColorName) color.Color {
	settings := fyne.CurrentApp().Settings()
	return settings.Theme().Color(name, settings.ThemeVariant())
}

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
