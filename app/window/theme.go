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

// themeOf returns the theme that the user set. isDark reports whether the desktop is dark; known is false on
// platforms where Fyne itself finds that out.
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

// followTheme sets the theme at each change of the settings or the desktop, until ctx is done. dark and known are the results of firstScheme.
func followTheme(ctx context.Context, a fyne.App, live *settings.Live, desktop <-chan bool, dark, known bool) {
	var changed <-chan struct{}
	if live != nil {
		changed = live.Changes()
	}
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

// currentTheme returns the theme in the current settings, or the desktop's theme if there are no settings.
func currentTheme(live *settings.Live, isDark, known bool) widgets.Theme {
	if live == nil {
		return themeOf(settings.DesktopTheme, isDark, known)
	}
	set, _ := live.Get()
	return themeOf(set.Theme, isDark, known)
}

// setTheme sets the theme unless it looks like the current one. Each new theme makes Fyne lay out the window again, with
// the size that Fyne knows. While the window opens or the user resizes it, that size differs from the size on the screen.
func setTheme(s fyne.Settings, wanted widgets.Theme) {
	shown, _ := s.Theme().(widgets.Theme)
	system := s.ThemeVariant()
	if *cmp.Or(shown.Variant, &system) != *cmp.Or(wanted.Variant, &system) {
		s.SetTheme(wanted)
	}
}
