package ui

import (
	"slices"

	"rollcall/app/listing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// sessionList is a list that differs from Fyne's in two points. It selects sessions instead of positions, so that the
// selection stays when rows are added or removed. It also handles keys: arrows, Page, Home and End select, Enter opens,
// Left and Right fold, and typing starts the filter. In the scope needsYou its keys answer.
type sessionList struct {
	widget.List
	page    *sessionsPage
	focused bool
}

func newSessionList(p *sessionsPage) *sessionList {
	l := &sessionList{page: p}
	l.HideSeparators = true
	l.Length = func() int { return len(p.view.Rows) }
	l.CreateItem = func() fyne.CanvasObject { return newRowView() }
	l.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(p.view.Rows) {
			p.showRow(p.view.Rows[i], o.(*rowView), l.focused)
		}
	}
	l.OnSelected = func(i widget.ListItemID) {
		l.UnselectAll()
		p.tapped(i)
	}
	l.ExtendBaseWidget(l)
	return l
}

// FocusGained shows that the list has the focus, and selects the first session if none is.
func (l *sessionList) FocusGained() {
	if _, ok := l.page.selectedRow(); !ok {
		l.jump(0, 1)
	}
	l.focused = true
	l.Refresh()
}

// FocusLost shows that the list no longer has the focus.
func (l *sessionList) FocusLost() {
	l.focused = false
	l.Refresh()
}

// KeyDown implements desktop.Keyable.
func (l *sessionList) KeyDown(ev *fyne.KeyEvent) { l.page.keys.KeyDown(ev) }

// KeyUp implements desktop.Keyable.
func (l *sessionList) KeyUp(ev *fyne.KeyEvent) { l.page.keys.KeyUp(ev) }

// TypedRune starts the filter with the character, or answers.
func (l *sessionList) TypedRune(r rune) {
	switch {
	case r == '?', l.page.ui.scope == listing.NeedsYou:
		l.page.ui.typedRune(r)
	case r == '/':
		l.page.focusFilter("")
	case r != ' ':
		l.page.focusFilter(string(r))
	}
}

// TypedKey handles a key while the list has the focus.
func (l *sessionList) TypedKey(ev *fyne.KeyEvent) {
	if l.page.ui.scope == listing.NeedsYou && ev.Name != fyne.KeyHome && l.page.ui.scrollKey(ev) {
		return
	}
	at, ok := l.page.selectedRow()
	if !ok {
		at = -1
	}
	page := max(1, int(l.Size().Height/rowStep)-1)
	switch ev.Name {
	case fyne.KeyDown:
		l.move(at, 1)
	case fyne.KeyUp:
		l.move(at, -1)
	case fyne.KeyPageDown:
		l.jump(at+page, 1)
	case fyne.KeyPageUp:
		l.jump(at-page, -1)
	case fyne.KeyHome:
		l.jump(0, 1)
	case fyne.KeyEnd:
		l.jump(len(l.page.view.Rows), -1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		l.page.enter()
	case fyne.KeyRight:
		l.page.fold(true)
	case fyne.KeyLeft:
		l.page.fold(false)
	case fyne.KeyEscape:
		l.page.clearFilter()
	default:
		l.page.ui.typedKey(ev)
	}
}

// move selects the next row after from, in the direction step, that can be selected. If there is none, it returns false
// and the selection stays.
func (l *sessionList) move(from, step int) bool {
	rows := l.page.view.Rows
	for i := from + step; i >= 0 && i < len(rows); i += step {
		if rows[i].Kind == listing.HeaderRow {
			continue
		}
		l.page.selectRow(rows[i])
		l.reveal(i)
		return true
	}
	return false
}

// jump selects row to, or the nearest row that can be selected, first in the direction step.
func (l *sessionList) jump(to, step int) {
	to = min(max(to, 0), len(l.page.view.Rows)-1)
	if !l.move(to-step, step) {
		l.move(to, -step)
	}
}

// follow returns the scroll offset with which most visible rows stay where they are once the list shows v. A list at
// its top stays there, because sessions that need the user appear there.
func (l *sessionList) follow(v *listing.View) float32 {
	offset := l.GetScrollOffset()
	rows := l.page.view.Rows
	if offset <= 0 {
		return 0
	}
	var moves []int
	for i := int(offset / rowStep); i < len(rows) && float32(i)*rowStep < offset+l.Size().Height; i++ {
		if rows[i].Kind != listing.SessionRow {
			continue
		}
		if to, ok := v.At[rows[i].Key]; ok {
			moves = append(moves, to-i)
		}
	}
	if len(moves) == 0 {
		return offset
	}
	slices.Sort(moves)
	return max(offset+float32(moves[len(moves)/2])*rowStep, 0)
}

// reveal scrolls to row i and to the heading directly above it.
func (l *sessionList) reveal(i int) {
	rows := l.page.view.Rows
	if i > 0 && rows[i-1].Kind == listing.HeaderRow {
		l.ScrollTo(i - 1)
	}
	l.ScrollTo(i)
}
