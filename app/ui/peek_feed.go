package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/bounded"
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
	f.deliver = &latest[messages]{ctx: f.ctx, do: post, deliver: deliver}
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
			began = true
			followed = s
			unfollow = f.follow(s)
		}
		if bounded.Wait(f.ctx, peekPause) != nil {
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
		if bounded.Wait(f.ctx, refreshStep) != nil {
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
	whole   string // what a tool was called with, to copy it
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
			t.tool = present.Cut(present.Tool(m), 32)
			t.state = m.State
			t.whole = m.Text
			t.plan = m.Plan && strings.Contains(m.Text, "\n") && !isUnbroken(m.Text)
			t.text = present.Cut(present.Line(head(m.Text, firstShown)), 300)
			if t.plan {
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
