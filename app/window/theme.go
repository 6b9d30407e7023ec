//go:build !headless

package window

import (
	"cmp"
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// themeOf returns the theme that the user set. isDark reports whether the desktop is dark; known is false where Fyne
// finds that out itself.
func themeOf(t settings.Theme, isDark, known bool) widgets.Theme {
	light, dark := theme.VariantLight, theme.VariantDark
	switch {
	case t == settings.LightTheme, t != settings.DarkTheme && known && !isDark:
		return widgets.Theme{Variant: &light}
	case t == settings.DarkTheme, known:
		return widgets.Theme{Variant: &dark}
	}
	return widgets.Theme{}
}

// followTheme shows the theme of the settings and of the desktop, as they change, until ctx is done.
func followTheme(ctx context.Context, a fyne.App, live *settings.Live) {
	desktop := watchScheme(ctx)
	var changed <-chan struct{}
	if live != nil {
		changed = live.Changes()
	}
	var dark, known bool
	for {
		wanted := currentTheme(live, dark, known)
		fyne.Do(func() { setTheme(a.Settings(), wanted) })
		select {
		case <-ctx.Done():
			return
		case dark = <-desktop:
			known = true
		case <-changed:
		}
	}
}

// currentTheme returns the theme of the settings as they are now; without settings that of the desktop.
func currentTheme(live *settings.Live, isDark, known bool) widgets.Theme {
	if live == nil {
		return themeOf(settings.DesktopTheme, isDark, known)
	}
	set, _ := live.Get()
	return themeOf(set.Theme, isDark, known)
}

// setTheme sets the theme unless it looks like the one that is shown: with each new theme Fyne lays out the window again,
// in the size that it knows, which is not yet that of the screen while the window opens or the user resizes it.
func setTheme(s fyne.Settings, wanted widgets.Theme) {
	shown, _ := s.Theme().(widgets.Theme)
	system := s.ThemeVariant()
	if *cmp.Or(shown.Variant, &system) != *cmp.Or(wanted.Variant, &system) {
		s.SetTheme(wanted)
	}
}
