package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

const (
	// peekPause is the time for which a session must be selected before its conversation is read, and for which
	// changes are combined.
	peekPause = 120 * time.Millisecond
	firstPeek = 50  // number of messages at first
	morePeek  = 150 // number of messages that each press of “Show earlier messages” adds
	mostPeek  = 500
	// refreshStep is the least time between two refreshes of a session whose conversation grows.
	refreshStep = 2 * time.Second
)

// messageFeed reads a session's conversation on its own goroutines, and delivers each result on Fyne's goroutine.
type messageFeed struct {
	core    Core
	deliver *latest[messages]
	ctx     context.Context
	stop    context.CancelFunc
	read    chan struct{} // receives when the conversation must be read
	grown   chan struct{} // receives when the conversation has changed

	mu      sync.Mutex
	session app.Session
	n       int // how many messages are read
}

// newMessageFeed begins to follow a session. It ends with stop or with ctx; after that nothing is delivered.
func newMessageFeed(ctx context.Context, core Core, post func(func()), s app.Session, deliver func(*messages)) *messageFeed {
	f := &messageFeed{core: core, session: s, n: firstPeek, read: make(chan struct{}, 1), grown: make(chan struct{}, 1)}
	f.ctx, f.stop = context.WithCancel(ctx)
	f.deliver = &latest[messages]{do: post, deliver: func(m *messages) {
		if f.ctx.Err() == nil {
			deliver(m)
		}
	}}
	go f.run()
	go f.refresh(s.Agent, s.ID)
	return f
}

// update reads the conversation again if the session has changed.
func (f *messageFeed) update(s app.Session) {
	f.mu.Lock()
	was := &f.session
	same := was.Status == s.Status && was.WaitingFor == s.WaitingFor && was.Outcome == s.Outcome &&
		was.LastActivityAt.Equal(s.LastActivityAt) && slices.Equal(was.Files, s.Files)
	f.session = s
	f.mu.Unlock()
	if !same {
		f.again()
	}
}

// setCount sets how many messages are read.
func (f *messageFeed) setCount(n int) {
	f.mu.Lock()
	f.n = n
	f.mu.Unlock()
	f.again()
}

// again makes the feed read the conversation again.
func (f *messageFeed) again() { wake(f.read) }

func (f *messageFeed) run() {
	var followed app.Session
	began := false
	unfollow := func() {}
	defer func() { unfollow() }()
	for {
		if s, _ := f.target(); !began || followed.Status != s.Status || !slices.Equal(followed.Files, s.Files) {
			unfollow()
			began, followed, unfollow = true, s, f.follow(s)
		}
		if !waited(f.ctx, peekPause) {
			return
		}
		select { // this read includes the changes until now
		case <-f.read:
		default:
		}
		s, n := f.target()
		list, err := f.core.Peek(f.ctx, s, n)
		if f.ctx.Err() != nil {
			return
		}
		f.deliver.set(newMessages(list, err, s.Agent, n))
		select {
		case <-f.ctx.Done():
			return
		case <-f.read:
		}
	}
}

// target returns the session, and how many of its messages are read.
func (f *messageFeed) target() (s app.Session, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session, f.n
}

// follow makes the feed read the conversation whenever it changes, until cancel is called.
func (f *messageFeed) follow(s app.Session) (cancel func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var watched atomic.Bool
	go f.core.Follow(ctx, s, func() {
		f.again()
		if watched.Swap(true) { // the first call is not a change
			wake(f.grown)
		}
	})
	return cancel
}

// refresh reads the session again when its conversation grows: not every agent then changes a folder that is watched.
func (f *messageFeed) refresh(agent adapters.Name, id string) {
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-f.grown:
		}
		f.core.RefreshOne(f.ctx, agent, id)
		if !waited(f.ctx, refreshStep) {
			return
		}
	}
}

// messages is the result of reading a conversation.
type messages struct {
	list      []messageText
	problem   string // the reason why messages are missing; empty: none is missing
	supported bool   // the agent's conversations can be read
	n         int    // how many messages were requested
}

// messageText is a message with the texts that the window shows.
type messageText struct {
	key     string
	role    adapters.Role
	speaker string
	tool    string
	plan    bool // the call presents a plan: its text is Markdown
	state   adapters.ToolState
	text    string
	rest    string // the rest of a long text, shown on demand
	at      time.Time
}

// newMessages cleans messages for the screen. It must not be called on Fyne's goroutine.
func newMessages(list []adapters.Message, err error, agent adapters.Name, n int) *messages {
	out := &messages{supported: !errors.Is(err, app.ErrNoPeek), problem: errorText(err), n: n}
	newest := len(list) - 1 // the newest message of the agent is shown whole, unless that would take long to lay out
	for newest > 0 && list[newest].Role != adapters.FromAgent {
		newest--
	}
	for i, m := range list {
		t := messageText{key: m.Key, role: m.Role, speaker: present.Speaker(m, agent), at: m.At}
		if m.Role == adapters.FromTool {
			t.tool, t.state, t.plan = present.Cut(present.Tool(m), 32), m.State, m.Plan && strings.Contains(m.Text, "\n") && !isUnbroken(m.Text)
			if t.text = present.Cut(present.Line(head(m.Text, firstShown)), 300); t.plan {
				t.text, t.rest = fold(present.Text(m.Text))
			}
		} else if t.text = present.Text(m.Text); i != newest || m.Role != adapters.FromAgent || isUnbroken(t.text) {
			t.text, t.rest = fold(t.text)
		}
		out.list = append(out.list, t)
	}
	return out
}

// isUnbroken reports whether a text has a word of more than 500 bytes. Fyne lays such a word out in a time that grows with the square of its
// length.
func isUnbroken(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if len(word) > 500 {
			return true
		}
	}
	return false
}

// maxLines is the number of lines of a message that are shown at first.
const maxLines = 14

// fold splits a long text into what is shown at first and the rest.
func fold(text string) (first, rest string) {
	end := len(head(text, firstShown))
	if end < len(text) {
		if space := strings.LastIndexAny(text[:end], " \n"); space > end/2 {
			end = space
		}
	}
	for i, lines := 0, 0; i < end; i++ {
		if text[i] == '\n' {
			if lines++; lines == maxLines {
				end = i
			}
		}
	}
	if len(text)-end < 80 && strings.Count(text[end:], "\n") < 3 { // so short a rest is shown at once
		return text, ""
	}
	return text[:end], text[end:]
}

// messageView shows one message of a conversation.
type messageView struct {
	message messageText
	content fyne.CanvasObject

	text *widgets.LongText // text of a message or a note
	icon *canvas.Image     // of a tool call
	line *widgets.Line     // of a tool call
}

// newMessageView shows a message. resized is called when the height may have changed.
func newMessageView(h *widgets.Host, m messageText, now time.Time, resized func()) *messageView {
	v := &messageView{message: m}
	if m.role == adapters.FromTool {
		v.content = v.toolCall(now)
		if m.plan {
			v.line.Set("", widgets.ColorMuted)
			v.text = h.NewMarkdown(m.text, m.rest, resized)
			v.content = widgets.Rows(0, v.content, widgets.Pad(0, 4, 14, 16, widgets.NewPanel(2, 4, 4, 4, v.text.Content)))
		}
		return v
	}
	if m.role == adapters.FromAgent {
		v.text = h.NewMarkdown(m.text, m.rest, resized)
		v.content = v.turn(v.text.Content, now)
		return v
	}
	label := widgets.NewSelectText("")
	v.text = h.NewLongText(label, m.text, m.rest, resized)
	if m.role != adapters.FromNote {
		v.content = v.turn(v.text.Content, now)
		return v
	}
	label.TextStyle.Italic, label.Importance = true, widget.LowImportance
	v.content = v.note(v.text.Content, now)
	return v
}

// turn shows a text below its author and time. The user's own messages are on a panel, because users search for them.
func (v *messageView) turn(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	who := widgets.NewLine(v.message.speaker, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})
	body := widgets.Rows(-4, widgets.Pad(4, 0, 6, 6, widgets.Border(nil, nil, newTime(v.message.at, now), who)), text)
	if v.message.role == adapters.FromUser {
		return widgets.Pad(5, 5, 4, 6, widgets.NewPanel(2, 2, 4, 4, body))
	}
	return widgets.Pad(6, 3, 8, 10, body)
}

// toolCall shows a call of a tool on one line: its state as an icon, its name, and what it does.
func (v *messageView) toolCall(now time.Time) fyne.CanvasObject {
	v.icon = widgets.NewImage(toolIcon(v.message.state), 12)
	mono := fyne.TextStyle{Monospace: true}
	name := widgets.NewLine(v.message.tool, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true, Bold: true}).Whole()
	v.line = widgets.NewLine(v.message.text, widgets.ColorMuted, theme.SizeNameCaptionText, mono)
	return widgets.Pad(2, 2, 14, 16, widgets.Border(nil, widgets.Columns(6, container.NewCenter(v.icon), name),
		newTime(v.message.at, now), widgets.Pad(0, 0, 8, 8, v.line)))
}

// note shows a note that the agent made.
func (v *messageView) note(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	return widgets.Pad(0, 0, 14, 16, widgets.Border(nil, widgets.TopOf(9, 0, 0, 0, widgets.NewImage(widgets.NewIcon("idle", widgets.ColorMuted), 12)),
		widgets.TopOf(7, 0, 0, 0, newTime(v.message.at, now)), text))
}

// toolIcon returns the icon of a call's state.
func toolIcon(s adapters.ToolState) *widgets.Icon {
	switch s {
	case adapters.ToolRunning:
		return widgets.NewIcon("working", widgets.ColorWorking)
	case adapters.ToolDone:
		return widgets.NewIcon("done", widgets.ColorGood)
	case adapters.ToolFailed:
		return widgets.NewIcon("failed", widgets.ColorBad)
	}
	return widgets.NewIcon("unknown", widgets.ColorMuted)
}

// newTime shows the time of a message: the time of day, with the date unless that is today.
func newTime(at, now time.Time) fyne.CanvasObject {
	return widgets.NewCaption(timeText(at, now)).Whole()
}

// timeText returns the time of a message in words.
func timeText(at, now time.Time) (text string) {
	switch at = at.In(now.Location()); {
	case at.IsZero():
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		text = at.Format("15:04")
	case at.Year() == now.Year():
		text = at.Format("2 Jan 15:04")
	default:
		text = at.Format("2 Jan 2006 15:04")
	}
	return text
}

// set shows the message as it is now. It returns false if another view must be created for m.
func (v *messageView) set(m messageText) bool {
	was := v.message
	if was == m {
		return true
	}
	if was.role != m.role || was.speaker != m.speaker || was.tool != m.tool || was.plan != m.plan || (was.rest == "") != (m.rest == "") || !was.at.Equal(m.at) {
		return false
	}
	v.message = m
	if m.role == adapters.FromTool {
		widgets.SetImage(v.icon, toolIcon(m.state))
		if !m.plan {
			v.line.Set(m.text, widgets.ColorMuted)
			return true
		}
	}
	v.text.Set(m.text, m.rest)
	return true
}
