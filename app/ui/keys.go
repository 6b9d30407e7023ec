package ui

import (
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"rollcall/app/ui/widgets"
)

// focusPage moves the focus to the main widget of the page: a widget that is now hidden would still handle keys. A tab
// keeps the focus, so that the Tab key continues from there. Below a dialog the focus is moved when the dialog closes.
func (u *UI) focusPage() {
	if u.host.Sheet != nil {
		return
	}
	c := u.window.Canvas()
	if _, ok := c.Focused().(*widgets.Tab); ok {
		return
	}
	switch {
	case u.page == pageSessions && u.sessions.phase == phaseList:
		u.host.Focus(u.sessions.list)
	case u.page == pageQueue && u.queue.phase == phaseList:
		u.host.Focus(u.queue.list)
	case u.page == pageSearch:
		u.host.Focus(u.search.entry)
	case u.page == pageIntroduction:
		u.host.Focus(u.welcome.done)
	case u.page == pageLaunch && !u.launch.prompt.Hidden:
		u.host.Focus(u.launch.prompt)
	default:
		c.Unfocus()
	}
}

// typedKey handles a key that no widget used.
func (u *UI) typedKey(ev *fyne.KeyEvent) {
	if u.page == pageQueue && u.host.Sheet == nil && u.window.Canvas().Focused() == nil && u.queue.key(ev) {
		return
	}
	switch ev.Name {
	case fyne.KeyF5:
		u.Refresh()
	case fyne.KeyEscape:
		if u.host.Sheet != nil {
			u.host.Sheet.Close()
			return
		}
		if u.page == pageIntroduction {
			u.open(pageSessions)
			return
		}
		u.sessions.clearFilter()
	case fyne.KeyDown:
		if u.page == pageSessions {
			u.sessions.focusList()
		}
	}
}

// typedRune handles a character while no widget has the focus.
func (u *UI) typedRune(r rune) {
	if u.page == pageQueue && u.host.Sheet == nil {
		u.queue.typed(r)
	}
}

// shortcut runs a shortcut of the window, and reports whether s is one. While a dialog is open, shortcuts for what is
// below it do nothing.
func (u *UI) shortcut(s fyne.Shortcut) bool {
	c, ok := s.(*desktop.CustomShortcut)
	if !ok || c.Modifier != fyne.KeyModifierShortcutDefault {
		return false
	}
	if u.host.Sheet != nil && c.KeyName != fyne.KeyR && c.KeyName != fyne.KeyW && c.KeyName != fyne.KeyQ {
		return slices.Contains(shortcuts, c.KeyName)
	}
	switch c.KeyName {
	case fyne.Key0:
		u.open(pageQueue)
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
	case fyne.Key5:
		u.open(pageSearch)
	case fyne.Key6:
		u.open(pageUsage)
	case fyne.KeyComma:
		u.open(pageSettings)
	case fyne.KeyW, fyne.KeyQ:
		u.window.Close()
	default:
		return false
	}
	return true
}

// shortcuts contains the keys of the window's shortcuts.
var shortcuts = []fyne.KeyName{fyne.Key0, fyne.KeyF, fyne.KeyR, fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6, fyne.KeyComma, fyne.KeyN, fyne.KeyW, fyne.KeyQ}

func (u *UI) addShortcuts() {
	c := u.window.Canvas()
	c.SetOnTypedKey(u.typedKey)
	c.SetOnTypedRune(u.typedRune)
	if d, ok := c.(desktop.Canvas); ok { // called while no widget has the focus
		d.SetOnKeyDown(u.queue.keys.KeyDown)
		d.SetOnKeyUp(u.queue.keys.KeyUp)
	}
	for _, k := range shortcuts {
		c.AddShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: fyne.KeyModifierShortcutDefault},
			func(s fyne.Shortcut) { u.shortcut(s) })
	}
}

// shortcutName returns how the platform writes the shortcut on key.
func shortcutName(key string) string {
	if runtime.GOOS == "darwin" {
		return "⌘" + key
	}
	return "Ctrl+" + key
}
