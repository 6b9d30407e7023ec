package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// presses distinguishes the press of a key from its repeats. Fyne reports repeats as further characters, and on some
// desktops the first repeat comes later than answer.VisibleFor.
type presses struct {
	down fyne.KeyName // the key that was pressed last; empty: it has been released
	used bool         // the key press was reported as a character once
}

// KeyDown is called when a key is pressed, and not for its repeats.
func (p *presses) KeyDown(ev *fyne.KeyEvent) {
	switch ev.Name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight, desktop.KeyAltLeft, desktop.KeyAltRight:
		return // a modifier key does not end the repeats of another key
	}
	p.down, p.used = ev.Name, false
}

// KeyUp is called when a key is released.
func (p *presses) KeyUp(ev *fyne.KeyEvent) {
	if ev.Name == p.down {
		p.down = ""
	}
}

// isRepeat reports whether a character is a repeat. It must be called once for each character.
func (p *presses) isRepeat() bool {
	repeat := p.down != "" && p.used
	p.used = true
	return repeat
}

// typed handles a character that is typed on the page: A allows, or asks for Y if the request is not known to be
// harmless, D denies, a digit chooses an option.
func (q *queuePage) typed(r rune) {
	switch repeat := q.keys.isRepeat(); {
	case repeat:
	case r == 'a' || r == 'A':
		q.request.allowIt(false)
	case r == 'y' || r == 'Y':
		q.request.allowIt(true)
	case r == 'd' || r == 'D':
		q.request.denyIt()
	case r >= '1' && r <= '9':
		q.request.option(int(r - '0'))
	}
}

// key handles a key of the page. It reports whether the page has a function for this key.
func (q *queuePage) key(ev *fyne.KeyEvent) bool {
	switch ev.Name {
	case fyne.KeyDown:
		q.move(q.at + 1)
	case fyne.KeyUp:
		q.move(q.at - 1)
	case fyne.KeyPageDown:
		q.request.code.PageDown(1)
	case fyne.KeyPageUp:
		q.request.code.PageDown(-1)
	case fyne.KeyEnd:
		q.request.code.ScrollToEnd()
	case fyne.KeyReturn, fyne.KeyEnter:
		q.request.goThere()
	default:
		return false
	}
	return true
}

// queueList is the list on the page of waiting requests. It has the focus of the page, so that its keys answer.
type queueList struct {
	rowList
	page *queuePage
}

func newQueueList(q *queuePage) *queueList {
	l := &queueList{page: q}
	l.setUp(l, func() int { return len(q.items()) }, func(i int, v *rowView) {
		v.set(row{kind: sessionRow}, q.items()[i].row(q.ui.now()), q.chosen && i == q.at, l.focused)
	}, q.move)
	return l
}

// KeyDown implements desktop.Keyable.
func (l *queueList) KeyDown(ev *fyne.KeyEvent) { l.page.keys.KeyDown(ev) }

// KeyUp implements desktop.Keyable.
func (l *queueList) KeyUp(ev *fyne.KeyEvent) { l.page.keys.KeyUp(ev) }

// TypedRune handles a character while the list has the focus.
func (l *queueList) TypedRune(r rune) { l.page.ui.typedRune(r) }

// TypedKey handles a key while the list has the focus.
func (l *queueList) TypedKey(ev *fyne.KeyEvent) {
	if !l.page.key(ev) {
		l.page.ui.typedKey(ev)
	}
}
