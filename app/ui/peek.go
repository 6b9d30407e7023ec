package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/ui/widgets"
)

// conversation shows the last messages of a session. While its end is visible, the end stays visible. It is used on
// Fyne's goroutine only.
type conversation struct {
	ui      *UI
	content fyne.CanvasObject
	total   *widgets.Line
	problem *widgets.Banner
	top     *fyne.Container // heading and banner
	body    *widgets.Stage  // the messages, or a text instead of them
	scroll  *container.Scroll
	sized   *fyne.Container // scroll, which sticks to its end when it gets another size
	rows    *fyne.Container
	stack   *stack
	earlier *widgets.Button

	feed         *messageFeed // nil: no session is shown, or it has no conversation that can be read
	views        []*messageView
	asked        int  // how many messages are read
	userScrolled bool // the user has scrolled since the messages appeared
	scrolling    bool
	found        string // the key of a message that the user searched for; empty: none
}

func newConversation(u *UI) *conversation {
	c := &conversation{ui: u, stack: &stack{}}
	title := widgets.NewTitle("Conversation")
	c.total = widgets.NewCaption("").Whole()
	c.problem = widgets.NewBanner("waiting")
	c.top = widgets.Rows(4, widgets.Pad(6, 0, 14, 16, widgets.Border(nil, nil, c.total, title)),
		widgets.Pad(0, 0, 12, 14, c.problem.Content))
	c.earlier = u.host.NewFlatButton("Show earlier messages", nil, c.showEarlier)
	c.rows = container.New(c.stack)
	c.scroll = container.NewVScroll(c.rows)
	c.sized = container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		c.scroll.Resize(size)
		c.stick()
	}, Least: func([]fyne.CanvasObject) fyne.Size { return c.scroll.MinSize() }}, c.scroll)
	c.stack.laidOut = c.stick
	c.body = widgets.NewStage()
	c.content = widgets.Border(c.top, nil, nil, c.body.Content)
	c.say(widgets.Message{})
	return c
}

// follow shows the conversation of a session, from its end.
func (c *conversation) follow(s app.Session) {
	c.leave()
	if s.IsProcess() {
		c.say(widgets.Message{Text: "No session yet. A session begins with the first prompt."})
		return
	}
	c.asked = firstPeek
	c.say(widgets.Message{Busy: true, Text: "Reading the conversation…"})
	c.feed = newMessageFeed(c.ui.ctx, c.ui.core, c.ui.post, s, c.take)
}

// update passes the current state of the followed session to the feed.
func (c *conversation) update(s app.Session) {
	if c.feed != nil {
		c.feed.update(s)
	}
}

// leave removes the conversation. Messages that are still being read are not shown.
func (c *conversation) leave() {
	if c.feed != nil {
		c.feed.stop()
		c.feed = nil
	}
	c.views = nil
	c.stack.end = true
	c.found = ""
	c.rows.Objects = nil
	c.say(widgets.Message{})
	c.problem.Set("")
	c.total.Set("", widgets.ColorMuted)
}

// showAround shows messages that do not change. It scrolls to the message with the key found and shows its text whole;
// an empty key means the last message.
func (c *conversation) showAround(m *messages, found string) {
	c.leave()
	c.found, c.stack.end = found, found == ""
	c.fill(m)
	c.show()
	c.total.Set("", widgets.ColorMuted)
	for _, v := range c.views {
		if v.message.key == found && v.message.rest != "" && v.text != nil {
			v.text.Toggle()
		}
	}
	c.layOut()
	c.scrollToFound()
}

// scrollToFound scrolls to the message that the user searched for, until the user scrolls.
func (c *conversation) scrollToFound() {
	for _, v := range c.views {
		if c.found != "" && v.message.key == c.found {
			c.scrolling = true // the window scrolls, not the user
			c.scroll.ScrollToOffset(fyne.NewPos(0, max(v.content.Position().Y-foundMargin, 0)))
			c.scrolling = false
		}
	}
}

// foundMargin is how much is visible above a message that the user searched for.
const foundMargin = 90

func (c *conversation) showEarlier() {
	if c.feed != nil && c.asked < mostPeek {
		c.asked = min(c.asked+morePeek, mostPeek)
		c.feed.setCount(c.asked)
	}
}

// take shows messages that were read.
func (c *conversation) take(t *messages) {
	switch {
	case !t.supported:
		c.instead(t, widgets.Message{Text: "Rollcall cannot read the conversations of this agent."})
	case len(t.list) > 0:
		c.warn(t.problem)
		c.fill(c.withOlder(t))
		c.show()
	case t.problem == "":
		c.instead(t, widgets.Message{Text: "No messages yet."})
	case len(c.views) > 0: // the messages that are already visible stay
		c.warn(t.problem)
	default:
		c.instead(t, widgets.Message{Title: "The conversation cannot be read", Text: t.problem, Actions: []fyne.CanvasObject{
			c.ui.host.NewButton("Try again", widgets.PlainIcon("refresh"), func() {
				if c.feed != nil {
					c.feed.again()
				}
			})}})
	}
}

// warn shows a problem above the messages; empty: there is none.
func (c *conversation) warn(problem string) {
	if c.problem.Set(problem) {
		c.top.Refresh()
	}
}

// instead shows a message in place of the messages.
func (c *conversation) instead(t *messages, m widgets.Message) {
	c.warn("")
	c.fill(t)
	c.say(m)
}

// withOlder adds the messages that are visible and older than those in t, while the user reads older messages.
func (c *conversation) withOlder(t *messages) *messages {
	if c.stack.end || len(t.list) == 0 {
		return t
	}
	older := slices.IndexFunc(c.views, func(v *messageView) bool { return v.message.key == t.list[0].key })
	if older <= 0 || older+len(t.list) > 2*mostPeek {
		return t
	}
	whole := *t
	whole.list = nil
	for _, v := range c.views[:older] {
		whole.list = append(whole.list, v.message)
	}
	whole.list = append(whole.list, t.list...)
	return &whole
}

// fill shows messages. It keeps the views of those that are shown already.
func (c *conversation) fill(t *messages) {
	known := make(map[string]*messageView, len(c.views))
	for _, v := range c.views {
		known[v.message.key] = v
	}
	was := c.views
	same := len(t.list) == len(c.views)
	grown := false
	views := make([]*messageView, 0, len(t.list))
	for i, w := range t.list {
		v := known[w.key]
		grown = grown || v == nil || v.message.text != w.text || v.message.rest != w.rest
		if v == nil || !v.set(w) {
			v, same = newMessageView(c.ui.host, w, c.ui.now(), c.layOut), false
		}
		same = same && was[i] == v
		views = append(views, v)
	}
	c.views = views
	c.total.Set(counting(len(views), t.n), widgets.ColorMuted)
	switch {
	case !same:
		c.arrange(t, was)
	case grown:
		c.layOut()
	}
}

// counting returns the number of messages in words.
func counting(n, asked int) string {
	switch {
	case n == 0:
		return ""
	case n >= asked:
		return fmt.Sprintf("last %d", n)
	}
	return english.Plural(n, "message", "messages")
}

// arrange builds the list of rows. If earlier messages were added at its top, the visible ones, which were shown, stay where they are.
func (c *conversation) arrange(t *messages, shown []*messageView) {
	objects := make([]fyne.CanvasObject, 0, len(c.views)+2)
	switch more := len(c.views) >= t.n; {
	case more && t.n < mostPeek:
		objects = append(objects, widgets.Pad(4, 4, 0, 0, container.NewCenter(c.earlier)))
	case more:
		objects = append(objects, widgets.Pad(4, 4, 14, 16, widgets.Hint(fmt.Sprintf("The window shows the last %d messages; “rollcall peek” shows earlier ones.", mostPeek))))
	}
	mark := -1
	for _, v := range c.views {
		if len(shown) > 0 && v.message.key == shown[0].message.key {
			mark = len(objects)
		}
		if c.found != "" && v.message.key == c.found {
			objects = append(objects, widgets.Pad(8, 0, 14, 16, widgets.NewLine("Found here", widgets.ColorWorking, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})))
		}
		objects = append(objects, v.content)
	}
	fromEnd := c.stack.height - c.scroll.Offset.Y
	c.rows.Objects = objects
	c.layOut()
	if mark > 1 && !c.stack.end {
		c.scroll.ScrollToOffset(fyne.NewPos(0, max(c.stack.height-fromEnd, 0)))
	}
}

// layOut lays the rows out after their heights changed. It does not refresh them: each refreshes itself when it changes, and hundreds take long.
func (c *conversation) layOut() {
	c.stack.Layout(c.rows.Objects, c.rows.Size())
	canvas.Refresh(c.rows)
	c.scroll.Base.Refresh() // its bars alone
	c.scroll.ScrollToOffset(fyne.NewPos(0, min(c.scroll.Offset.Y, max(c.stack.height-c.scroll.Size().Height, 0))))
	c.stick()
}

// stick scrolls to the end if the user was there.
func (c *conversation) stick() {
	defer c.cull()
	if c.found != "" && !c.userScrolled {
		c.scrollToFound()
		return
	}
	height := c.scroll.Size().Height
	if c.stack.end && height > 0 {
		c.scroll.ScrollToOffset(fyne.NewPos(0, max(c.stack.height-height, 0)))
	}
}

// cull hides the rows that are far out of sight: Fyne visits each object that is not hidden in every frame of the window.
func (c *conversation) cull() {
	height := c.scroll.Size().Height
	for _, o := range c.rows.Objects {
		if from := o.Position().Y - c.scroll.Offset.Y; from < 2*height && from+o.Size().Height > -height {
			o.Show()
		} else {
			o.Hide()
		}
	}
}

// show shows the messages.
func (c *conversation) show() {
	if c.body.Show(c.sized) {
		c.userScrolled = false
		c.layOut()
		c.scroll.OnScrolled = c.scrolled
	}
}

// say shows a message where the messages would be.
func (c *conversation) say(m widgets.Message) {
	if c.body.Say(m) {
		c.scroll.OnScrolled = nil
	}
}

// scrolled records whether the end is visible.
func (c *conversation) scrolled(at fyne.Position) {
	c.cull()
	if c.scrolling {
		return
	}
	c.userScrolled = true
	c.stack.end = at.Y+c.scroll.Size().Height >= c.stack.height-4
}

// stack lays rows out below one another, each as high as its wrapped text.
type stack struct {
	height  float32
	end     bool // the user is at the end, which stays visible
	width   float32
	laidOut func()
}

func (s *stack) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(4)
	for _, o := range objects {
		o.Move(fyne.NewPos(0, y))
		y += widgets.WrapTo(o, size.Width)
	}
	y += 8
	changed := y != s.height || size.Width != s.width
	s.height, s.width = y, size.Width
	if changed && s.laidOut != nil {
		s.laidOut()
	}
}

// MinSize returns the height of the rows at the last layout.
func (s *stack) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, s.height) }
