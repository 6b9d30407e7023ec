package follow

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/bounded"
)

const (
	// PeekPause is the time for which a session must be selected before its conversation is read, and for which
	// changes are combined.
	PeekPause = 120 * time.Millisecond
	// FirstPeek is the number of messages that a conversation has at first.
	FirstPeek = 50
	// MorePeek is the number of messages that each press of “Show earlier messages” adds.
	MorePeek = 150
	// MostPeek is the greatest number of messages that a conversation has.
	MostPeek = 500
	// refreshStep is the least time between two refreshes of a session whose conversation grows.
	refreshStep = 2 * time.Second
)

// conversations reads the conversations of sessions; *app.Core implements it.
type conversations interface {
	Peek(ctx context.Context, s app.Session, n int) ([]adapters.Message, error)
	Follow(ctx context.Context, s app.Session, changed func())
	RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *app.Snapshot
}

// Conversation reads a session's conversation on its own goroutines, and delivers each result on the goroutine of the surface.
type Conversation struct {
	core    conversations
	Deliver *Latest[describe.Messages]
	ctx     context.Context
	Stop    context.CancelFunc
	read    chan struct{} // receives when the conversation must be read
	grown   chan struct{} // receives when the conversation has changed

	mu      sync.Mutex
	session app.Session
	n       int // how many messages are read
}

// Update reads the conversation again if the session has changed.
func (f *Conversation) Update(s app.Session) {
	f.mu.Lock()
	was := &f.session
	same := was.Status == s.Status && was.WaitingFor == s.WaitingFor && was.Outcome == s.Outcome &&
		was.LastActivityAt.Equal(s.LastActivityAt) && slices.Equal(was.Files, s.Files)
	f.session = s
	f.mu.Unlock()
	if !same {
		f.Again()
	}
}

// SetCount sets how many messages are read.
func (f *Conversation) SetCount(n int) {
	f.mu.Lock()
	f.n = n
	f.mu.Unlock()
	f.Again()
}

// Again makes the feed read the conversation again.
func (f *Conversation) Again() { Wake(f.read) }

func (f *Conversation) run() {
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
		if bounded.Wait(f.ctx, PeekPause) != nil {
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
		f.Deliver.Set(describe.NewMessages(list, err, s.Agent, n))
		select {
		case <-f.ctx.Done():
			return
		case <-f.read:
		}
	}
}

// target returns the session, and how many of its messages are read.
func (f *Conversation) target() (s app.Session, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session, f.n
}

// follow makes the feed read the conversation whenever it changes, until cancel is called.
func (f *Conversation) follow(s app.Session) (cancel func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var watched atomic.Bool
	go f.core.Follow(ctx, s, func() {
		f.Again()
		if watched.Swap(true) { // the first call is not a change
			Wake(f.grown)
		}
	})
	return cancel
}

// refresh reads the session again when its conversation grows: not every agent then changes a folder that is watched.
func (f *Conversation) refresh(agent adapters.Name, id string) {
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

// NewConversation begins to follow a session. It ends with stop or with ctx; after that nothing is delivered.
func NewConversation(ctx context.Context, core conversations, post func(func()), s app.Session, deliver func(*describe.Messages)) *Conversation {
	f := &Conversation{core: core, session: s, n: FirstPeek, read: make(chan struct{}, 1), grown: make(chan struct{}, 1)}
	f.ctx, f.Stop = context.WithCancel(ctx)
	f.Deliver = NewLatest(f.ctx, post, deliver)
	go f.run()
	go f.refresh(s.Agent, s.ID)
	return f
}
