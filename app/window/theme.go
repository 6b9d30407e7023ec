//go:build !headless

package window

import (
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
	get := func() settings.Theme { return settings.DesktopTheme }
	if live != nil {
		changed = live.Changes()
		get = func() settings.Theme {
			set, _ := live.Get()
			return set.Theme
		}
	}
	var dark, known bool
	for {
		wanted := themeOf(get(), dark, known)
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

// setTheme sets the theme unless it looks like the one that is shown: with each new theme Fyne lays out the window again,
// in the size that it knows, which is not yet that of the screen while the window opens or the user resizes it.
func setTheme(s fyne.Settings, wanted widgets.Theme) {
	shown := s.ThemeVariant()
	if t, ok := s.Theme().(widgets.Theme); ok && t.Variant != nil {
		shown = *t.Variant
	}
	next := s.ThemeVariant()
	if wanted.Variant != nil {
		next = *wanted.Variant
	}
	if shown != next {
		s.SetTheme(wanted)
	}
}

// firstTheme returns the theme of the settings, before the desktop is asked for its own.
func firstTheme(o *Options) widgets.Theme {
	if o.Content.Live == nil {
		return widgets.Theme{}
	}
	set, _ := o.Content.Live.Get()
	return themeOf(set.Theme, false, false)
}
