package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Colours of our own beside Fyne's. Each is readable on the window's
// background, on a selected row and on a panel: the theme's test computes it.
const (
	colorMuted   fyne.ThemeColorName = "rollcall-muted"   // secondary text
	colorWaiting fyne.ThemeColorName = "rollcall-waiting" // needs the user
	colorWorking fyne.ThemeColorName = "rollcall-working"
	colorGood    fyne.ThemeColorName = "rollcall-good"
	colorBad     fyne.ThemeColorName = "rollcall-bad"
	colorPanel   fyne.ThemeColorName = "rollcall-panel" // behind banners, cards and code
	colorRowOn   fyne.ThemeColorName = "rollcall-row-on"
	colorTrack   fyne.ThemeColorName = "rollcall-track" // the empty part of a bar
)

type palette map[fyne.ThemeColorName]color.NRGBA

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

func rgba(hex uint32, alpha uint8) color.NRGBA {
	c := rgb(hex)
	c.A = alpha
	return c
}

var light = palette{
	theme.ColorNameBackground:          rgb(0xffffff),
	theme.ColorNameForeground:          rgb(0x1c2128),
	theme.ColorNameDisabled:            rgb(0x5b6572),
	theme.ColorNamePlaceHolder:         rgb(0x5b6572),
	theme.ColorNameButton:              rgb(0xeef1f5),
	theme.ColorNameDisabledButton:      rgb(0xf4f6f8),
	theme.ColorNameInputBackground:     rgb(0xf6f8fa),
	theme.ColorNameInputBorder:         rgb(0x8a94a1),
	theme.ColorNameSeparator:           rgb(0xdfe4ea),
	theme.ColorNameHover:               rgba(0x1c2128, 0x0d),
	theme.ColorNamePressed:             rgba(0x1c2128, 0x1a),
	theme.ColorNameFocus:               rgba(0x0a5bd3, 0x38),
	theme.ColorNameSelection:           rgba(0x0a5bd3, 0x38),
	theme.ColorNamePrimary:             rgb(0x0a5bd3),
	theme.ColorNameForegroundOnPrimary: rgb(0xffffff),
	theme.ColorNameHyperlink:           rgb(0x0a5bd3),
	theme.ColorNameError:               rgb(0xb3261e),
	theme.ColorNameForegroundOnError:   rgb(0xffffff),
	theme.ColorNameWarning:             rgb(0x8a5200),
	theme.ColorNameForegroundOnWarning: rgb(0xffffff),
	theme.ColorNameSuccess:             rgb(0x17702f),
	theme.ColorNameForegroundOnSuccess: rgb(0xffffff),
	theme.ColorNameHeaderBackground:    rgb(0xf6f8fa),
	theme.ColorNameMenuBackground:      rgb(0xffffff),
	theme.ColorNameOverlayBackground:   rgb(0xffffff),
	theme.ColorNameScrollBar:           rgba(0x1c2128, 0x66),
	theme.ColorNameScrollBarBackground: rgb(0xeef1f5),
	theme.ColorNameShadow:              rgba(0x1c2128, 0x1c),
	colorMuted:                         rgb(0x5b6572),
	colorWaiting:                       rgb(0x8a5200),
	colorWorking:                       rgb(0x0a5bd3),
	colorGood:                          rgb(0x17702f),
	colorBad:                           rgb(0xb3261e),
	colorPanel:                         rgb(0xf6f8fa),
	colorRowOn:                         rgb(0xe6effc),
	colorTrack:                         rgb(0xdfe4ea),
}

var dark = palette{
	theme.ColorNameBackground:          rgb(0x16191e),
	theme.ColorNameForeground:          rgb(0xe8ebf0),
	theme.ColorNameDisabled:            rgb(0x9aa4b2),
	theme.ColorNamePlaceHolder:         rgb(0x9aa4b2),
	theme.ColorNameButton:              rgb(0x282d36),
	theme.ColorNameDisabledButton:      rgb(0x1f232a),
	theme.ColorNameInputBackground:     rgb(0x1e2229),
	theme.ColorNameInputBorder:         rgb(0x6b7583),
	theme.ColorNameSeparator:           rgb(0x2c323b),
	theme.ColorNameHover:               rgba(0xffffff, 0x0f),
	theme.ColorNamePressed:             rgba(0xffffff, 0x1f),
	theme.ColorNameFocus:               rgba(0x7ab2ff, 0x4d),
	theme.ColorNameSelection:           rgba(0x7ab2ff, 0x4d),
	theme.ColorNamePrimary:             rgb(0x7ab2ff),
	theme.ColorNameForegroundOnPrimary: rgb(0x0d1420),
	theme.ColorNameHyperlink:           rgb(0x7ab2ff),
	theme.ColorNameError:               rgb(0xff8a80),
	theme.ColorNameForegroundOnError:   rgb(0x1d0b09),
	theme.ColorNameWarning:             rgb(0xf0b64b),
	theme.ColorNameForegroundOnWarning: rgb(0x1c1403),
	theme.ColorNameSuccess:             rgb(0x63d489),
	theme.ColorNameForegroundOnSuccess: rgb(0x06150b),
	theme.ColorNameHeaderBackground:    rgb(0x1e2229),
	theme.ColorNameMenuBackground:      rgb(0x242932),
	theme.ColorNameOverlayBackground:   rgb(0x1e2229),
	theme.ColorNameScrollBar:           rgba(0xffffff, 0x66),
	theme.ColorNameScrollBarBackground: rgb(0x242932),
	theme.ColorNameShadow:              rgba(0x000000, 0x80),
	colorMuted:                         rgb(0x9aa4b2),
	colorWaiting:                       rgb(0xf0b64b),
	colorWorking:                       rgb(0x7ab2ff),
	colorGood:                          rgb(0x63d489),
	colorBad:                           rgb(0xff8a80),
	colorPanel:                         rgb(0x1e2229),
	colorRowOn:                         rgb(0x24344c),
	colorTrack:                         rgb(0x343b46),
}

var sizes = map[fyne.ThemeSizeName]float32{
	theme.SizeNameText:           13,
	theme.SizeNameCaptionText:    11,
	theme.SizeNameSubHeadingText: 16,
	theme.SizeNameHeadingText:    19,
	theme.SizeNamePadding:        4,
	theme.SizeNameInnerPadding:   6,
	theme.SizeNameLineSpacing:    3,
	theme.SizeNameInlineIcon:     16,
	theme.SizeNameScrollBar:      10,
	theme.SizeNameScrollBarSmall: 4,
	theme.SizeNameInputRadius:    6,
	theme.SizeNameButtonRadius:   6,
}

// Theme is Rollcall's compact look. The zero value follows the system's choice
// of light or dark.
type Theme struct {
	// Variant, when set, overrides the system's choice.
	Variant *fyne.ThemeVariant
}

var _ fyne.Theme = Theme{}

// Color returns Rollcall's colour for name, Fyne's own where it has none.
func (t Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if t.Variant != nil {
		variant = *t.Variant
	}
	colors := dark
	if variant == theme.VariantLight {
		colors = light
	}
	if c, ok := colors[name]; ok {
		return c
	}
	return theme.DefaultTheme().Color(name, variant)
}

// Font returns Fyne's own fonts.
func (Theme) Font(style fyne.TextStyle) fyne.Resource { return theme.DefaultTheme().Font(style) }

// Icon returns Fyne's own icons; the statuses' icons are not part of a theme.
func (Theme) Icon(name fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(name) }

// Size returns the compact sizes, in Fyne's units.
func (Theme) Size(name fyne.ThemeSizeName) float32 {
	if s, ok := sizes[name]; ok {
		return s
	}
	return theme.DefaultTheme().Size(name)
}

// themeColor is the colour in the theme that shows now.
func themeColor(name fyne.ThemeColorName) color.Color {
	settings := fyne.CurrentApp().Settings()
	return settings.Theme().Color(name, settings.ThemeVariant())
}
