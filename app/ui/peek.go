package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
)

// conversation shows what was said last in a session. It belongs to the UI
// goroutine. While the user looks at its end, the end stays in sight.
type conversation struct {
	ui      *UI
	content fyne.CanvasObject
	count   *line
	problem *banner
	top     *fyne.Container // heading and banner
	body    *fyne.Container // the messages, or what stands in their place
	scroll  *container.Scroll
	rows    *fyne.Container
	stack   *stack
	earlier *button
	busy    *widget.Activity

	feed  *talkFeed // nil: no session, or no conversation to show
	views []*messageView
	phase string
	asked int // messages
}

func newConversation(u *UI) *conversation {
	c := &conversation{ui: u, stack: &stack{}}
	title := newLine("Conversation", theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true})
	c.count = newLine("", colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{}).whole()
	c.problem = newBanner("waiting")
	c.top = container.New(layout.NewCustomPaddedVBoxLayout(4),
		container.New(layout.NewCustomPaddedLayout(6, 0, 14, 16), border(nil, nil, c.count, title)),
		container.New(layout.NewCustomPaddedLayout(0, 0, 12, 14), c.problem.content))
	c.earlier = newButton("Show earlier messages", nil, u.typedKey, c.showEarlier)
	c.earlier.Importance = widget.LowImportance
	c.rows = container.New(c.stack)
	c.scroll = container.NewVScroll(c.rows)
	c.stack.laidOut = c.stick
	c.body = container.NewStack()
	c.content = border(c.top, nil, nil, c.body)
	c.show("", nil)
	return c
}

// follow shows the conversation of a session, from its end.
func (c *conversation) follow(s app.Session) {
	c.leave()
	p, able := c.ui.core.(peeker)
	if !able {
		c.take(&talk{})
		return
	}
	c.asked = firstPeek
	c.show(phaseLoading, nil)
	c.feed = newTalkFeed(c.ui.ctx, p, c.ui.post, s, c.take)
}

// update takes the followed session as it is now.
func (c *conversation) update(s app.Session) {
	if c.feed != nil {
		c.feed.update(s)
	}
}

// leave drops the conversation: what is still asked for is not shown.
func (c *conversation) leave() {
	if c.feed != nil {
		c.feed.stop()
		c.feed = nil
	}
	c.views, c.stack.end = nil, true
	c.rows.Objects = nil
	c.show("", nil)
	c.problem.show("")
	c.count.set("", colorMuted)
}

func (c *conversation) showEarlier() {
	if c.feed != nil && c.asked < mostPeek {
		c.asked = min(c.asked+morePeek, mostPeek)
		c.feed.want(c.asked)
	}
}

// The phases of a conversation besides those of the page.
const (
	phaseUnable = "unable"
	phaseSaid   = "said"
)

// take shows an answer.
func (c *conversation) take(t *talk) {
	phase := phaseSaid
	switch {
	case !t.able:
		phase = phaseUnable
	case len(t.words) == 0 && t.problem != "" && len(c.views) == 0:
		phase = phaseFailed
	case len(t.words) == 0 && t.problem == "":
		phase = phaseEmpty
	}
	note := ""
	if phase == phaseSaid {
		note = t.problem
	}
	if c.problem.show(note) {
		c.top.Refresh()
	}
	if phase == phaseSaid && len(t.words) == 0 { // what was said stays
		return
	}
	c.fill(c.withOlder(t))
	c.show(phase, t)
}

// withOlder keeps what is no longer among the last messages while the user reads
// there: it must not move away.
func (c *conversation) withOlder(t *talk) *talk {
	if c.stack.end || len(t.words) == 0 {
		return t
	}
	older := slices.IndexFunc(c.views, func(v *messageView) bool { return v.words.key == t.words[0].key })
	if older <= 0 || older+len(t.words) > 2*mostPeek {
		return t
	}
	whole := *t
	whole.words = nil
	for _, v := range c.views[:older] {
		whole.words = append(whole.words, v.words)
	}
	whole.words = append(whole.words, t.words...)
	return &whole
}

// fill brings the rows in line with the messages, keeping those that stay.
func (c *conversation) fill(t *talk) {
	known := make(map[string]*messageView, len(c.views))
	for _, v := range c.views {
		known[v.words.key] = v
	}
	before := len(c.views)
	same, grown := len(t.words) == before, false
	views := make([]*messageView, 0, len(t.words))
	for i, w := range t.words {
		v := known[w.key]
		grown = grown || v == nil || v.words.text != w.text || v.words.rest != w.rest
		if v == nil || !v.set(w) {
			v, same = newMessageView(c.ui, w, c.ui.now(), c.relay), false
		}
		same = same && c.views[i] == v
		views = append(views, v)
	}
	first := ""
	if before > 0 {
		first = c.views[0].words.key
	}
	c.views = views
	c.count.set(counting(len(views), t.n), colorMuted)
	switch {
	case !same:
		c.arrange(t, first)
	case grown:
		c.relay()
	}
}

// counting says how many messages of those asked for there are.
func counting(n, asked int) string {
	switch {
	case n == 0:
		return ""
	case n >= asked:
		return fmt.Sprintf("last %d", n)
	case n == 1:
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// arrange builds the list of rows. Where earlier ones came to its top, what the
// user looks at stays where it is.
func (c *conversation) arrange(t *talk, first string) {
	objects := make([]fyne.CanvasObject, 0, len(c.views)+2)
	switch more := len(c.views) >= t.n; {
	case more && t.n < mostPeek:
		objects = append(objects, container.New(layout.NewCustomPaddedLayout(4, 4, 0, 0), container.NewCenter(c.earlier)))
	case more:
		objects = append(objects, container.New(layout.NewCustomPaddedLayout(4, 4, 18, 18),
			paragraph(fmt.Sprintf("What was said before the last %d messages is not shown here: rollcall peek shows it.", mostPeek), widget.LowImportance)))
	}
	mark := -1
	for _, v := range c.views {
		if v.words.key == first {
			mark = len(objects)
		}
		objects = append(objects, v.content)
	}
	fromEnd := c.stack.height - c.scroll.Offset.Y
	c.rows.Objects = objects
	c.relay()
	if mark > 1 && !c.stack.end {
		c.scroll.ScrollToOffset(fyne.NewPos(0, max(c.stack.height-fromEnd, 0)))
	}
}

// relay lays the rows out anew, after their heights changed.
func (c *conversation) relay() {
	c.rows.Refresh()
	c.scroll.Refresh()
	c.stick()
}

// stick brings the end into sight, if that is where the user was.
func (c *conversation) stick() {
	height := c.scroll.Size().Height
	if c.stack.end && height > 0 {
		c.scroll.ScrollToOffset(fyne.NewPos(0, max(c.stack.height-height, 0)))
	}
}

// show shows a phase.
func (c *conversation) show(phase string, t *talk) {
	again := phase
	if phase == phaseFailed {
		again += t.problem
	}
	if c.phase == again {
		return
	}
	c.phase = again
	if c.busy != nil {
		c.busy.Stop()
		c.busy = nil
	}
	c.scroll.OnScrolled = nil
	c.body.Objects = []fyne.CanvasObject{c.phaseContent(phase, t)}
	c.body.Refresh()
	if phase == phaseSaid {
		c.relay()
		c.scroll.OnScrolled = c.scrolled
	}
}

// scrolled notes whether the user looks at the end.
func (c *conversation) scrolled(at fyne.Position) {
	c.stack.end = at.Y+c.scroll.Size().Height >= c.stack.height-4
}

func (c *conversation) phaseContent(phase string, t *talk) fyne.CanvasObject {
	again := newButton("Try again", plainIcon("refresh"), c.ui.typedKey, func() {
		if c.feed != nil {
			c.feed.again()
		}
	})
	switch phase {
	case phaseSaid:
		return c.scroll
	case phaseLoading:
		c.busy = widget.NewActivity()
		c.busy.Start()
		return newMessage(c.busy, "", "Reading what was said…")
	case phaseEmpty:
		return newMessage(nil, "", "Nothing said yet.")
	case phaseFailed:
		return newMessage(nil, "The conversation can't be read", t.problem, again)
	case phaseUnable:
		return newMessage(nil, "", "The conversations of this agent can't be shown.")
	}
	return container.NewStack()
}

// stack lays rows out below one another, each as high as its wrapped text needs.
type stack struct {
	height  float32
	end     bool // the end is to stay in sight
	width   float32
	laidOut func()
}

func (s *stack) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(4)
	for _, o := range objects {
		// Twice: a wrapped text knows its height once it knows its width.
		if o.Size().Width != size.Width {
			o.Resize(fyne.NewSize(size.Width, o.MinSize().Height))
		}
		h := o.MinSize().Height
		o.Resize(fyne.NewSize(size.Width, h))
		o.Move(fyne.NewPos(0, y))
		y += h
	}
	y += 8
	changed := y != s.height || size.Width != s.width
	s.height, s.width = y, size.Width
	if changed && s.laidOut != nil {
		s.laidOut()
	}
}

// MinSize is as high as the rows were at the last layout.
func (s *stack) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, s.height) }
