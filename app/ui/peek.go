package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/follow"
	"rollcall/app/ui/widgets"
)

// conversation is the part of the details that scrolls: a request, and below it the last messages of a session or what is shown instead of them. While the end
// is visible, it stays visible. It is used on Fyne's goroutine only.
type conversation struct {
	ui      *UI
	content fyne.CanvasObject
	request *requestView // nil: there is no place for a request
	head    *fyne.Container
	title   fyne.CanvasObject
	total   *widgets.Line
	problem *widgets.Banner
	body    *widgets.Stage // a text instead of the messages
	says    bool           // body is shown
	scroll  *container.Scroll
	rows    *fyne.Container // everything that scrolls
	stack   *stack
	earlier *widgets.Button
	cover   fyne.CanvasObject // shown instead of the conversation; nil: the conversation is shown
	finder  *finder

	feed         *follow.Conversation // nil: no session is shown, or it has no conversation that can be read
	views        []*messageView
	shown        []fyne.CanvasObject // the messages that are shown, and what is between them
	first        string              // the key of the first message that is shown; empty: none is
	asked        int                 // how many messages are read
	isBelow      bool                // the messages are below a request
	isShort      bool                // only the last messages are shown
	userScrolled bool                // the user has scrolled since the messages appeared
	scrolling    bool
	found        string // the key of a message that the user searched for; empty: none
}

// belowRequest is the number of messages that are shown below a request.
const belowRequest = 6

// newConversation returns an empty conversation below request, which may be nil.
func newConversation(u *UI, request *requestView) *conversation {
	c := &conversation{ui: u, request: request, stack: &stack{}, head: container.NewStack()}
	if request != nil {
		c.head = widgets.Pad(0, 0, 8, 8, request.content)
	}
	c.total = widgets.NewCaption("").Whole()
	c.title = widgets.Pad(6, 0, 14, 16, widgets.Border(nil, nil, c.total, widgets.NewTitle("Conversation")))
	c.problem = widgets.NewBanner("waiting")
	c.earlier = u.host.NewFlatButton("Show earlier messages", nil, c.showEarlier)
	c.rows = container.New(c.stack)
	c.scroll = container.NewVScroll(c.rows)
	c.scroll.OnScrolled = c.scrolled
	sized := container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		c.scroll.Resize(size)
		c.stick()
	}, Least: func([]fyne.CanvasObject) fyne.Size { return c.scroll.MinSize() }}, c.scroll)
	c.stack.laidOut = c.stick
	c.body = widgets.NewStage()
	c.body.IsFlat = true
	c.finder = newFinder(c)
	c.content = widgets.Border(widgets.Rows(0, widgets.Pad(0, 0, 12, 14, c.problem.Content), c.finder.content), nil, nil, sized)
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
	c.asked = follow.FirstPeek
	c.say(widgets.Message{Busy: true, Text: "Reading the conversation…"})
	c.feed = follow.NewConversation(c.ui.ctx, c.ui.core, c.ui.post, s, c.take)
}

// update passes the current state of the followed session to the feed.
func (c *conversation) update(s app.Session) {
	if c.feed != nil {
		c.feed.Update(s)
	}
}

// leave removes the conversation. Messages that are still being read are not shown.
func (c *conversation) leave() {
	if c.feed != nil {
		c.feed.Stop()
		c.feed = nil
	}
	c.views = nil
	c.finder.leave()
	c.shown = nil
	c.first = ""
	c.stack.end = !c.isBelow
	c.isShort = c.isBelow
	c.found = ""
	c.userScrolled = false
	c.say(widgets.Message{})
	c.warn("")
	c.total.Set("", widgets.ColorMuted)
}

// showAround shows messages that do not change. It scrolls to the message with the key found and shows its text whole;
// an empty key means the last message.
func (c *conversation) showAround(m *describe.Messages, found string) {
	c.leave()
	c.found, c.stack.end = found, found == ""
	c.fill(m)
	c.show()
	c.total.Set("", widgets.ColorMuted)
	for _, v := range c.views {
		if v.message.Key == found && v.message.Rest != "" && v.text != nil {
			v.text.Toggle()
		}
	}
	c.layOut()
	c.scrollToFound()
}

// scrollToFound scrolls to the message that the user searched for, until the user scrolls.
func (c *conversation) scrollToFound() {
	for _, v := range c.views {
		if c.found != "" && v.message.Key == c.found {
			c.moveTo(v.content.Position().Y - foundMargin)
		}
	}
}

// foundMargin is how much is visible above a message that the user searched for.
const foundMargin = 90

func (c *conversation) showEarlier() {
	if c.isShort {
		c.isShort = false
		c.arrange(c.asked)
		return
	}
	c.read(c.asked + follow.MorePeek)
}

// read reads n messages, at most mostPeek, unless as many were asked for.
func (c *conversation) read(n int) {
	n = min(n, follow.MostPeek)
	if c.feed != nil && c.asked < n {
		c.asked = n
		c.feed.SetCount(n)
	}
}

// readAll shows as many messages as the window can.
func (c *conversation) readAll() {
	if c.isShort {
		c.isShort = false
		c.arrange(c.asked)
	}
	c.read(follow.MostPeek)
}

// take shows messages that were read.
func (c *conversation) take(t *describe.Messages) {
	switch {
	case !t.Supported:
		c.instead(t, widgets.Message{Text: "Rollcall cannot read the conversations of this agent."})
	case len(t.List) > 0:
		c.warn(t.Problem)
		c.fill(c.withOlder(t))
		c.show()
	case t.Problem == "":
		c.instead(t, widgets.Message{Text: "No messages yet."})
	case len(c.views) > 0: // the messages that are already visible stay
		c.warn(t.Problem)
	default:
		c.instead(t, widgets.Message{Title: "The conversation cannot be read", Text: t.Problem, Actions: []fyne.CanvasObject{
			c.ui.host.NewButton("Try again", widgets.PlainIcon("refresh"), func() {
				if c.feed != nil {
					c.feed.Again()
				}
			})}})
	}
}

// warn shows a problem above the messages; empty: there is none.
func (c *conversation) warn(problem string) {
	if c.problem.Set(problem) {
		c.content.Refresh()
	}
}

// instead shows a message in place of the messages.
func (c *conversation) instead(t *describe.Messages, m widgets.Message) {
	c.warn("")
	c.fill(t)
	c.say(m)
}

// withOlder adds the messages that are visible and older than those in t, while the user reads older messages.
func (c *conversation) withOlder(t *describe.Messages) *describe.Messages {
	if c.stack.end || len(t.List) == 0 {
		return t
	}
	older := slices.IndexFunc(c.views, func(v *messageView) bool { return v.message.Key == t.List[0].Key })
	if older <= 0 || older+len(t.List) > 2*follow.MostPeek {
		return t
	}
	whole := *t
	whole.List = nil
	for _, v := range c.views[:older] {
		whole.List = append(whole.List, v.message)
	}
	whole.List = append(whole.List, t.List...)
	return &whole
}

// fill shows messages. It keeps the views of those that are shown already.
func (c *conversation) fill(t *describe.Messages) {
	known := make(map[string]*messageView, len(c.views))
	for _, v := range c.views {
		known[v.message.Key] = v
	}
	was := c.views
	same := len(t.List) == len(c.views)
	grown := false
	views := make([]*messageView, 0, len(t.List))
	for i, w := range t.List {
		v := known[w.Key]
		grown = grown || v == nil || v.message.Text != w.Text || v.message.Rest != w.Rest
		if v == nil || !v.set(w) {
			v, same = newMessageView(c.ui.host, w, c.ui.host.Now(), c.layOut), false
		}
		same = same && was[i] == v
		views = append(views, v)
	}
	c.views = views
	c.total.Set(counting(len(views), t.Asked), widgets.ColorMuted)
	switch {
	case !same:
		c.arrange(t.Asked)
	case grown:
		c.layOut()
	default:
		return
	}
	c.finder.renew()
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

// arrange builds the list of the messages, of which asked were read. If earlier messages were added at its top, the visible ones stay where they are.
func (c *conversation) arrange(asked int) {
	c.shown = nil
	shown, was := c.views, c.first
	if c.isShort {
		start := max(len(shown)-belowRequest, 0)
		at := slices.IndexFunc(shown[:start], func(v *messageView) bool { return v.message.Key == was })
		if c.userScrolled && at >= 0 {
			start = at
		}
		shown = shown[start:]
	}
	switch more := len(c.views) >= asked; {
	case len(shown) < len(c.views), more && asked < follow.MostPeek:
		c.shown = append(c.shown, widgets.Pad(4, 4, 0, 0, container.NewCenter(c.earlier)))
	case more:
		c.shown = append(c.shown, widgets.Pad(4, 4, 14, 16, widgets.Hint(fmt.Sprintf("The window shows the last %d messages; “rollcall peek” shows earlier ones.", follow.MostPeek))))
	}
	c.first = ""
	above := false // a message was added above the first one
	for i, v := range shown {
		if i == 0 {
			c.first = v.message.Key
		}
		above = above || i > 0 && v.message.Key == was
		if c.found != "" && v.message.Key == c.found {
			c.shown = append(c.shown, widgets.Pad(8, 0, 14, 16, widgets.NewLine("Found here", widgets.ColorWorking, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})))
		}
		c.shown = append(c.shown, v.content)
	}
	fromEnd := c.stack.height - c.scroll.Offset.Y
	c.compose()
	if above && !c.stack.end {
		c.moveTo(c.stack.height - fromEnd)
	}
}

// compose shows what belongs into the column now.
func (c *conversation) compose() {
	objects := []fyne.CanvasObject{c.head}
	switch {
	case c.cover != nil:
		objects = append(objects, c.cover)
	case c.says:
		objects = append(objects, c.title, c.body.Content)
	default:
		objects = append(append(objects, c.title), c.shown...)
	}
	c.rows.Objects = objects
	c.layOut()
}

// showInstead shows something instead of the conversation, from its top; nil: it shows the conversation again.
func (c *conversation) showInstead(o fyne.CanvasObject) {
	c.cover = o
	c.stack.end = o == nil && !c.isBelow
	c.compose()
	if !c.stack.end {
		c.moveTo(0)
	}
}

// showRequest shows a request that the user has not seen, with the last messages below it.
func (c *conversation) showRequest() {
	c.isBelow = true
	c.isShort = true
	c.stack.end = false
	c.userScrolled = false
	c.moveTo(0)
	c.arrange(c.asked)
}

// hideRequest shows the messages alone after the request has gone, from their end unless the user reads them.
func (c *conversation) hideRequest() {
	if !c.isBelow {
		return
	}
	c.isBelow, c.isShort = false, false
	c.stack.end = c.stack.end || !c.userScrolled && c.cover == nil
	c.arrange(c.asked)
}

// moveTo scrolls to y, as the window and not as the user.
func (c *conversation) moveTo(y float32) {
	c.scrolling = true
	c.scroll.ScrollToOffset(fyne.NewPos(0, min(max(y, 0), max(c.stack.height-c.scroll.Size().Height, 0))))
	c.scrolling = false
	c.cull()
}

// page scrolls by most of a page; a negative n scrolls up.
func (c *conversation) page(n int) {
	c.userScrolled = true
	c.moveTo(c.scroll.Offset.Y + float32(n)*c.scroll.Size().Height*0.9)
	c.scrolled(c.scroll.Offset)
}

// toTop scrolls to the beginning of what is shown.
func (c *conversation) toTop() {
	c.userScrolled = true
	c.moveTo(0)
	c.scrolled(c.scroll.Offset)
}

// toEnd scrolls to the end of the request, and from there to the end of the conversation.
func (c *conversation) toEnd() {
	y := c.stack.height
	if c.isBelow && !c.request.code.IsEndSeen() {
		y = c.head.Position().Y + c.request.end() - c.scroll.Size().Height
	}
	c.moveTo(y)
	c.scrolled(c.scroll.Offset)
}

// layOut lays the rows out after their heights changed. It does not refresh them: each refreshes itself when it changes, and hundreds take long.
func (c *conversation) layOut() {
	c.stack.Layout(c.rows.Objects, c.rows.Size())
	canvas.Refresh(c.rows)
	c.scroll.Base.Refresh() // its bars alone
	c.moveTo(c.scroll.Offset.Y)
	c.stick()
}

// lastReply returns the last message of the agent; nil: there is none.
func (c *conversation) lastReply() *messageView {
	for _, v := range slices.Backward(c.views) {
		if v.message.Role == adapters.FromAgent {
			return v
		}
	}
	return nil
}

// stick scrolls to the end if the user was there.
func (c *conversation) stick() {
	switch {
	case c.found != "" && !c.userScrolled:
		c.scrollToFound()
	case c.stack.end && c.scroll.Size().Height > 0:
		c.moveTo(c.stack.height)
	}
	c.cull()
}

// cull hides the rows that are far out of sight: Fyne visits each object that is not hidden in every frame of the window. It also notes which part of the request
// is in sight.
func (c *conversation) cull() {
	height, offset := c.scroll.Size().Height, c.scroll.Offset.Y
	for _, o := range c.rows.Objects {
		if from := o.Position().Y - offset; from < 2*height && from+o.Size().Height > -height {
			o.Show()
			hideBlocks(o, from, height)
		} else {
			o.Hide()
		}
	}
	if c.request != nil {
		from := offset - c.head.Position().Y
		c.request.setSight(from, from+height)
	}
}

// hideBlocks hides what is in a block of code or a table that is out of sight at y: Fyne 2.8.1 limits it to the block, and not to what contains the block, where it
// looks for what is under the mouse.
func hideBlocks(o fyne.CanvasObject, y, height float32) {
	switch o := o.(type) {
	case *widgets.Sideways:
		widgets.SetVisible(o.Content, y < height && y+o.Size().Height > 0)
	case *fyne.Container:
		for _, part := range o.Objects {
			hideBlocks(part, y+part.Position().Y, height)
		}
	}
}

// show shows the messages.
func (c *conversation) show() {
	if c.says {
		c.says = false
		c.body.Say(widgets.Message{}) // its indicator stops
		c.compose()
	}
}

// say shows a message where the messages would be.
func (c *conversation) say(m widgets.Message) {
	if c.body.Say(m) || !c.says {
		c.says = true
		c.compose()
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
