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
)

// peeker is what a Core offers that can show conversations; *app.Core does.
type peeker interface {
	Peek(ctx context.Context, s app.Session, n int) ([]adapters.Message, error)
	Follow(ctx context.Context, s app.Session, changed func())
	RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *app.Snapshot
}

const (
	// peekPause is how long a session must be selected to be asked for, and how
	// long changes gather.
	peekPause = 120 * time.Millisecond
	firstPeek = 50  // messages at first
	morePeek  = 150 // with each wish for more
	mostPeek  = 500
	// refreshStep is the least time between two questions for the facts of a
	// session whose conversation goes on.
	refreshStep = 2 * time.Second
)

// talkFeed asks for one session's conversation, on goroutines of its own, and
// hands each answer to the UI goroutine, in place of one that still waits there.
type talkFeed struct {
	core    peeker
	post    func(func())
	deliver func(*talk) // called on the UI goroutine
	ctx     context.Context
	stop    context.CancelFunc
	poke    chan struct{}
	grown   chan struct{}

	mu      sync.Mutex
	session app.Session
	n       int
	ready   *talk // posted, not yet delivered
}

// newTalkFeed begins to follow a session. It ends with stop, or with ctx: after
// that nothing is delivered.
func newTalkFeed(ctx context.Context, core peeker, post func(func()), s app.Session, deliver func(*talk)) *talkFeed {
	f := &talkFeed{core: core, post: post, deliver: deliver, session: s, n: firstPeek, poke: make(chan struct{}, 1), grown: make(chan struct{}, 1)}
	f.ctx, f.stop = context.WithCancel(ctx)
	go f.run()
	go f.refresh(s.Agent, s.ID)
	return f
}

// update takes the session as it is now.
func (f *talkFeed) update(s app.Session) {
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

// want asks for n messages from now on.
func (f *talkFeed) want(n int) {
	f.mu.Lock()
	f.n = n
	f.mu.Unlock()
	f.again()
}

func (f *talkFeed) again() {
	select {
	case f.poke <- struct{}{}:
	default:
	}
}

func (f *talkFeed) run() {
	var followed app.Session
	began := false
	unfollow := func() {}
	defer func() { unfollow() }()
	for {
		if s, _ := f.question(); !began || followed.Status != s.Status || !slices.Equal(followed.Files, s.Files) {
			unfollow()
			began, followed, unfollow = true, s, f.follow(s)
		}
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(peekPause):
		}
		select { // what gathered meanwhile is answered now
		case <-f.poke:
		default:
		}
		s, n := f.question()
		messages, err := f.core.Peek(f.ctx, s, n)
		if f.ctx.Err() != nil {
			return
		}
		f.hand(newTalk(messages, err, s.Agent, n))
		select {
		case <-f.ctx.Done():
			return
		case <-f.poke:
		}
	}
}

func (f *talkFeed) question() (s app.Session, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session, f.n
}

// follow has the feed poked when the conversation changes.
func (f *talkFeed) follow(s app.Session) (cancel func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var watched atomic.Bool
	go f.core.Follow(ctx, s, func() {
		f.again()
		if watched.Swap(true) { // the first call says no more than that
			select {
			case f.grown <- struct{}{}:
			default:
			}
		}
	})
	return cancel
}

// refresh asks for the facts of a session whose conversation went on: not every
// agent's folders tell of that.
func (f *talkFeed) refresh(agent adapters.Name, id string) {
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-f.grown:
		}
		f.core.RefreshOne(f.ctx, agent, id)
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(refreshStep):
		}
	}
}

func (f *talkFeed) hand(t *talk) {
	f.mu.Lock()
	waiting := f.ready != nil
	f.ready = t
	f.mu.Unlock()
	if waiting {
		return
	}
	f.post(func() {
		f.mu.Lock()
		t := f.ready
		f.ready = nil
		f.mu.Unlock()
		if f.ctx.Err() == nil {
			f.deliver(t)
		}
	})
}

// talk is an answer in words.
type talk struct {
	words   []words
	problem string // why there is no more; empty if nothing is missing
	able    bool   // the agent's conversations can be shown
	n       int    // how many messages were asked for
}

// words is a message as it is shown.
type words struct {
	key     string
	role    adapters.Role
	speaker string
	tool    string
	state   adapters.ToolState
	text    string
	rest    string // of a long text, shown on demand
	at      time.Time
}

// newTalk cleans what was said. It belongs on no UI goroutine.
func newTalk(messages []adapters.Message, err error, agent adapters.Name, n int) *talk {
	t := &talk{able: !errors.Is(err, app.ErrNoPeek), n: n}
	if err != nil {
		t.problem = present.Cut(short(err.Error()), 400)
	}
	for _, m := range messages {
		w := words{key: m.Key, role: m.Role, speaker: present.Speaker(m, agent), at: m.At}
		if m.Role == adapters.FromTool {
			w.tool, w.state, w.text = present.Cut(present.Tool(m), 32), m.State, present.Cut(present.Line(head(m.Text, firstShown)), 300)
		} else {
			w.text, w.rest = fold(present.Text(m.Text))
		}
		t.words = append(t.words, w)
	}
	return t
}

// maxLines is how many lines of a message are shown at first.
const maxLines = 14

// fold divides a long text into what is shown at first and the rest.
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
	if len(text)-end < 80 && strings.Count(text[end:], "\n") < 3 { // not worth a click
		return text, ""
	}
	return text[:end], text[end:]
}
