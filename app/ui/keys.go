package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
)

// focusPage moves the focus to the main widget of the page: a widget that is now hidden would still handle keys. A tab
// keeps the focus, so that the Tab key continues from there. Below a dialog the focus is moved when the dialog closes.
func (u *UI) focusPage() {
	if u.host.Sheet != nil {
		return
	}
	if _, ok := u.window.Canvas().Focused().(*widgets.Tab); ok {
		return
	}
	var o fyne.Focusable
	if focus := u.pages[u.page].focus; focus != nil {
		o = focus()
	}
	u.host.Focus(o)
}

// typedKey handles a key that no widget used.
func (u *UI) typedKey(ev *fyne.KeyEvent) {
	if u.scrollKey(ev) {
		return
	}
	switch ev.Name {
	case fyne.KeyF5:
		u.Refresh()
	case fyne.KeyF3:
		if c := u.conversation(); c != nil && u.host.Sheet == nil {
			u.findNext(c.finder)
		}
	case fyne.KeyEscape:
		u.escape()
	case fyne.KeyPageDown, fyne.KeyPageUp:
		if v := u.sessions.detail.changes; v != nil {
			v.page(map[fyne.KeyName]float32{fyne.KeyPageDown: 1, fyne.KeyPageUp: -1}[ev.Name])
		}
	case fyne.KeyDown, fyne.KeyUp:
		if u.page == pageSessions {
			u.host.Focus(u.sessions.list)
		}
	}
}

// scrollKey scrolls the conversation that is shown, and what is above it, unless a dialog is open. It reports whether the key does that.
func (u *UI) scrollKey(ev *fyne.KeyEvent) bool {
	c := u.conversation()
	if c == nil || u.host.Sheet != nil {
		return false
	}
	switch ev.Name {
	case fyne.KeyPageDown:
		c.page(1)
	case fyne.KeyPageUp:
		c.page(-1)
	case fyne.KeyHome:
		c.toTop()
	case fyne.KeyEnd:
		c.toEnd()
	default:
		return false
	}
	return true
}

// escape closes what is open: a dialog, the introduction, the field that finds in a conversation, or the filter.
func (u *UI) escape() {
	c := u.conversation()
	switch {
	case u.host.Sheet != nil:
		u.host.Sheet.Close()
	case u.page == pageIntroduction:
		u.open(pageSessions)
	case c != nil && c.finder.content.Visible():
		c.finder.close()
	case !u.goBack():
		u.sessions.clearFilter()
	}
}

// typedRune handles a character while no widget has the focus.
func (u *UI) typedRune(r rune) {
	switch {
	case u.host.Sheet != nil:
	case r == '?':
		u.showShortcuts()
	case u.page == pageSessions && u.scope == listing.NeedsYou:
		u.sessions.typed(r)
	}
}

// shortcut runs a shortcut of the window, and reports whether s is one. While a dialog is open, shortcuts for what is
// below it do nothing.
func (u *UI) shortcut(s fyne.Shortcut) bool {
	c, ok := s.(*desktop.CustomShortcut)
	if ok && c.Modifier == fyne.KeyModifierAlt {
		return u.host.Sheet == nil && (c.KeyName == fyne.KeyLeft && u.goBack() || u.sessionShortcut(c))
	}
	if !ok || c.Modifier != fyne.KeyModifierShortcutDefault {
		return false
	}
	do, ok := u.shortcuts[c.KeyName]
	if ok && (u.host.Sheet == nil || c.KeyName == fyne.KeyR || c.KeyName == fyne.KeyW || c.KeyName == fyne.KeyQ) {
		do()
	}
	return ok
}

func (u *UI) addShortcuts() {
	c := u.window.Canvas()
	c.SetOnTypedKey(u.typedKey)
	c.SetOnTypedRune(u.typedRune)
	c.AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) { widgets.CopySelected() })
	if d, ok := c.(desktop.Canvas); ok { // these handlers are called only while no widget has the focus
		d.SetOnKeyDown(u.sessions.keys.KeyDown)
		d.SetOnKeyUp(u.sessions.keys.KeyUp)
	}
	u.shortcuts = map[fyne.KeyName]func(){
		fyne.KeyN: u.ShowLaunch, fyne.KeyComma: u.ShowSettings, fyne.KeyF: u.focusSearch, fyne.KeyK: u.showPalette, fyne.KeyR: u.Refresh, fyne.KeyW: u.window.Close, fyne.KeyQ: u.window.Close,
	}
	for _, key := range []fyne.KeyName{fyne.KeyLeft, pinKey, hideKey, snoozeKey, muteKey} {
		c.AddShortcut(altKey(key), func(s fyne.Shortcut) { u.shortcut(s) })
	}
	for i, tab := range u.nav.tabs() { // Ctrl+0 to Ctrl+6
		u.shortcuts[fyne.KeyName('0'+rune(i))] = tab.OnTapped
	}
	for k := range u.shortcuts {
		c.AddShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: fyne.KeyModifierShortcutDefault},
			func(s fyne.Shortcut) { u.shortcut(s) })
	}
}

// The keys that with Alt do what an item of the menu of the selected session does. Alt+Left leads back from its details to the list.
const pinKey, hideKey, snoozeKey, muteKey = fyne.KeyP, fyne.KeyH, fyne.KeyS, fyne.KeyM

func altKey(key fyne.KeyName) *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierAlt}
}

// withKey returns the item with the key that runs it.
func withKey(key fyne.KeyName, item *fyne.MenuItem) *fyne.MenuItem {
	item.Shortcut = altKey(key)
	return item
}

// sessionShortcut runs the item of the selected session's menu that has this shortcut, unless the user types a text. It reports whether there is one.
func (u *UI) sessionShortcut(c *desktop.CustomShortcut) bool {
	s := u.sessions.detail.session
	if _, types := u.window.Canvas().Focused().(*widgets.Entry); types || u.page != pageSessions || s == nil {
		return false
	}
	for _, item := range u.markItems(s) {
		if on, ok := item.Shortcut.(*desktop.CustomShortcut); ok && *on == *c {
			item.Action()
			return true
		}
	}
	return false
}

// focusSearch moves the focus to the field that finds in the conversation that is shown; on the page that searches, to its field unless that has the focus; else
// to the filter of the sessions.
func (u *UI) focusSearch() {
	c := u.conversation()
	switch {
	case u.page == pageSearch && (c == nil || u.window.Canvas().Focused() != fyne.Focusable(u.search.entry)):
		u.host.Focus(u.search.entry)
	case c != nil:
		c.finder.open()
	default:
		u.sessions.focusFilter("")
	}
}
