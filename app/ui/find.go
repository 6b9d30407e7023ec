package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"rollcall/app/follow"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/textmatch"
)

// finder finds a text in the messages of a conversation, which it marks. It is used on Fyne's goroutine only.
type finder struct {
	conversation *conversation
	content      *fyne.Container // the bar; hidden: nothing is searched for
	entry        *widgets.Entry
	count        *widgets.Line
	pattern      *textmatch.Pattern // nil: nothing is searched for
	hits         []foundHit         // the oldest first
	isCut        bool               // there are more
	at           int                // the present hit; -1: none
	from         string             // the key of the message that the search begins at
	back         fyne.Focusable     // had the focus before
}

// foundHit is a hit in a message.
type foundHit struct {
	view   *messageView
	number int // of those in the message
}

// findHint is the example in the field.
const findHint = "Find in this conversation"

func newFinder(c *conversation) *finder {
	f := &finder{conversation: c, at: -1}
	h := c.ui.host
	f.entry = h.NewEntry(findHint, f.search)
	f.entry.Icon = widgets.NewIcon("search", widgets.ColorMuted)
	f.entry.Key = f.key
	f.count = widgets.NewCaption("").Whole()
	f.content = widgets.Pad(6, 4, 12, 14, widgets.Border(nil, nil, widgets.Columns(2, widgets.Pad(0, 0, 6, 6, f.count),
		h.NewFlatButton("", widgets.PlainIcon("up"), func() { f.step(-1) }), h.NewFlatButton("", widgets.PlainIcon("opened"), func() { f.step(1) }),
		h.NewFlatButton("", widgets.NewIcon("clear", widgets.ColorMuted), f.close)), f.entry))
	f.content.Hide()
	return f
}

// open shows the bar, and gives its field the focus. More messages are read, as many as the window shows.
func (f *finder) open() {
	c := f.conversation
	if f.content.Hidden {
		f.back = c.ui.window.Canvas().Focused()
		f.from = ""
		for _, v := range c.views {
			if at := v.content.Position().Y + v.content.Size().Height; f.from == "" && at > c.scroll.Offset.Y {
				f.from = v.message.Key
			}
		}
		f.content.Show()
		c.content.Refresh()
		c.readAll()
	}
	c.ui.host.Focus(f.entry)
	f.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// close hides the bar and the marks, and gives the focus back.
func (f *finder) close() {
	if f.content.Hidden {
		return
	}
	f.leave()
	f.conversation.content.Refresh()
	f.conversation.layOut()
	f.conversation.ui.host.Focus(f.back)
}

// leave hides the bar, as of a conversation that is no longer shown.
func (f *finder) leave() {
	f.content.Hide()
	f.entry.SetText("")
}

// key handles a key in the field: Enter goes on, Shift+Enter back, Escape closes the bar.
func (f *finder) key(ev *fyne.KeyEvent) bool {
	switch ev.Name {
	case fyne.KeyEscape:
		f.close()
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyF3:
		f.conversation.ui.findNext(f)
	default:
		return false
	}
	return true
}

// search searches for another text. The first hit in or below the first message that was in sight is the present one, else the one that is the nearest above.
func (f *finder) search(text string) {
	f.pattern, _ = textmatch.Text(text) // nil for an empty text
	f.at = -1
	f.mark()
	views := f.conversation.views
	start := slices.IndexFunc(views, func(v *messageView) bool { return v.message.Key == f.from })
	for i, hit := range f.hits {
		f.at = i
		if slices.Index(views, hit.view) >= start {
			break
		}
	}
	f.show()
}

// begin shows the bar with a text, without giving it the focus.
func (f *finder) begin(text string) {
	f.from, f.back = f.conversation.found, f.conversation.ui.window.Canvas().Focused()
	f.content.Show()
	f.entry.SetText(text)
	f.conversation.content.Refresh()
}

// mark marks the hits in the messages that are shown, and keeps the present one.
func (f *finder) mark() {
	was, find := foundHit{}, widgets.Find(nil)
	if f.at >= 0 {
		was = f.hits[f.at]
	}
	if f.pattern != nil {
		find = f.pattern.Find
	}
	f.hits = nil
	f.at, f.isCut = -1, false
	for _, v := range f.conversation.views {
		n := v.markHits(find)
		f.isCut = f.isCut || n == widgets.MostHits
		for i := range n {
			if (foundHit{v, i}) == was {
				f.at = len(f.hits)
			}
			f.hits = append(f.hits, foundHit{v, i})
		}
	}
	if f.at >= 0 {
		was.view.markHere(was.number)
	}
	f.conversation.layOut()
	f.showCount()
}

// renew marks the hits again after the messages have changed.
func (f *finder) renew() {
	switch {
	case f.pattern == nil:
	case f.at < 0:
		f.search(f.entry.Text)
	default:
		f.mark()
	}
}

// step shows the next hit, or the one before with -1. After the last one comes the first one.
func (f *finder) step(by int) {
	if len(f.hits) == 0 {
		return
	}
	if f.at >= 0 {
		f.hits[f.at].view.markHere(-1)
	}
	f.at = (f.at + by + len(f.hits)) % len(f.hits)
	f.show()
}

// show marks the present hit, and scrolls to it.
func (f *finder) show() {
	if f.at >= 0 {
		c, hit := f.conversation, f.hits[f.at]
		hit.view.markHere(hit.number)
		c.userScrolled = true
		for range 2 { // the second pass sees the heights that wrapped texts got in the first
			c.layOut()
			c.moveTo(f.position(f.at) - foundMargin)
		}
		c.scrolled(c.scroll.Offset)
	}
	f.showCount()
}

// position returns where a hit is in what scrolls.
func (f *finder) position(i int) float32 {
	view := f.hits[i].view
	top := view.content.Position().Y
	if view.text == nil {
		return top
	}
	block, below := view.text.Hit(f.hits[i].number)
	within, _ := offsetIn(view.content, block)
	return top + within + below
}

// offsetIn returns how far below the top of in o is, and whether o is in it. Fyne 2.8.1 knows no place of what is hidden.
func offsetIn(in, o fyne.CanvasObject) (y float32, ok bool) {
	parts := []fyne.CanvasObject{}
	switch in := in.(type) {
	case *fyne.Container:
		parts = in.Objects
	case *widgets.Sideways:
		parts = append(parts, in.Content)
	}
	for _, part := range parts {
		if part == o {
			return part.Position().Y, true
		}
		y, ok = offsetIn(part, o)
		if ok {
			return part.Position().Y + y, true
		}
	}
	return 0, false
}

// showCount shows how many hits there are, and which one is the present one.
func (f *finder) showCount() {
	text, c := "", f.conversation
	switch {
	case f.pattern == nil:
	case len(f.hits) == 0:
		text = "Nothing found"
	default:
		text = fmt.Sprintf("%d of %d", f.at+1, len(f.hits)) + present.When(f.isCut, " or more")
	}
	if n := len(c.views); f.pattern != nil && n >= follow.MostPeek {
		text += fmt.Sprintf(" in the last %d messages", n)
	}
	if f.count.Text() != text {
		f.count.Set(text, widgets.ColorMuted)
		f.content.Refresh()
	}
}

// findNext shows the next hit, or with Shift the one before.
func (u *UI) findNext(f *finder) {
	by := 1
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok && d.CurrentKeyModifiers()&fyne.KeyModifierShift != 0 {
		by = -1
	}
	f.step(by)
}

// conversation returns the conversation that is visible; nil: none is.
func (u *UI) conversation() *conversation {
	d := u.sessions.detail
	switch p := u.pages[u.page].panes; {
	case p == nil || !p.showsDetails():
	case u.page == pageSessions && d.session != nil && d.changes == nil && d.conversation.cover == nil:
		return d.conversation
	case u.page == pageSearch && u.search.hit.session != "":
		return u.search.hit.conversation
	}
	return nil
}

// markHits marks what find finds in the message, and returns how many places that are; nil marks nothing.
func (v *messageView) markHits(find widgets.Find) int {
	if v.text != nil {
		return v.text.Mark(find)
	}
	v.line.Set(v.message.Text, widgets.ColorMuted)
	if find == nil {
		return 0
	}
	if _, _, ok := find(v.message.Text); !ok {
		return 0
	}
	v.line.Set(v.message.Text, widgets.ColorWaiting)
	return 1
}

// markHere marks one of the hits in the message as the present one; a negative number marks none so.
func (v *messageView) markHere(hit int) {
	if v.text != nil {
		v.text.MarkHere(hit)
	}
}
