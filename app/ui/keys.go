package ui

import (
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// focusPage takes the focus from what is hidden now, which would go on to act on
// keys, and gives it to what the page is for. A tab keeps it: the Tab key goes on
// from there. The focus below a dialog is settled when that closes.
func (u *UI) focusPage() {
	if u.sheet != nil {
		return
	}
	c := u.window.Canvas()
	if _, ok := c.Focused().(*tab); ok {
		return
	}
	switch {
	case u.page == pageSessions && u.sessions.phase == phaseList:
		u.focus(u.sessions.list)
	case u.page == pageLaunch && !u.launch.prompt.Hidden:
		u.focus(u.launch.prompt)
	default:
		c.Unfocus()
	}
}

func (u *UI) focus(o fyne.Focusable) { u.window.Canvas().Focus(o) }

// typedKey is what no widget had a use for.
func (u *UI) typedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyF5:
		u.Refresh()
	case fyne.KeyEscape:
		if u.sheet != nil {
			u.sheet.close()
			return
		}
		u.sessions.clearFilter()
	case fyne.KeyDown:
		if u.page == pageSessions {
			u.sessions.focusList()
		}
	}
}

// shortcut runs one of the window's own shortcuts. What is below a dialog stays
// as it is.
func (u *UI) shortcut(s fyne.Shortcut) bool {
	c, ok := s.(*desktop.CustomShortcut)
	if !ok || c.Modifier != fyne.KeyModifierShortcutDefault {
		return false
	}
	if u.sheet != nil && c.KeyName != fyne.KeyR && c.KeyName != fyne.KeyW && c.KeyName != fyne.KeyQ {
		return slices.Contains(shortcuts, c.KeyName)
	}
	switch c.KeyName {
	case fyne.KeyF:
		u.sessions.focusFilter("")
	case fyne.KeyR:
		u.Refresh()
	case fyne.Key1:
		u.open(pageSessions)
	case fyne.Key2:
		u.open(pageAgents)
	case fyne.Key3, fyne.KeyN:
		u.open(pageLaunch)
	case fyne.Key4:
		u.open(pageLocks)
	case fyne.KeyW, fyne.KeyQ:
		u.window.Close()
	default:
		return false
	}
	return true
}

// shortcuts are the keys of the window's own shortcuts.
var shortcuts = []fyne.KeyName{fyne.KeyF, fyne.KeyR, fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.KeyN, fyne.KeyW, fyne.KeyQ}

func (u *UI) addShortcuts() {
	c := u.window.Canvas()
	c.SetOnTypedKey(u.typedKey)
	for _, k := range shortcuts {
		c.AddShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: fyne.KeyModifierShortcutDefault},
			func(s fyne.Shortcut) { u.shortcut(s) })
	}
}

// shortcutName is how the platform writes the shortcut on key.
func shortcutName(key string) string {
	if runtime.GOOS == "darwin" {
		return "⌘" + key
	}
	return "Ctrl+" + key
}
