package ui

import (
	"context"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// fakeTalk is the part of a core that returns conversations.
type fakeTalk struct {
	talkMu   sync.Mutex
	said     map[string][]adapters.Message // by session
	failing  error
	hold     chan struct{} // when set, answers wait for it
	changed  map[string]func()
	asked    []int
	followed []string
	facts    []string // sessions whose facts were asked for
}

func (f *fakeTalk) RefreshOne(_ context.Context, _ adapters.Name, ids ...string) *app.Snapshot {
	f.talkMu.Lock()
	defer f.talkMu.Unlock()
	f.facts = append(f.facts, ids...)
	return nil
}

func (f *fakeTalk) Peek(ctx context.Context, s app.Session, n int) ([]adapters.Message, error) {
	f.talkMu.Lock()
	f.asked = append(f.asked, n)
	hold := f.hold
	f.talkMu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.talkMu.Lock()
	defer f.talkMu.Unlock()
	m := f.said[s.ID]
	return append([]adapters.Message{}, m[max(0, len(m)-n):]...), f.failing
}

func (f *fakeTalk) Follow(ctx context.Context, s app.Session, changed func()) {
	f.talkMu.Lock()
	if f.changed == nil {
		f.changed = make(map[string]func())
	}
	f.changed[s.ID] = changed
	f.followed = append(f.followed, s.ID)
	f.talkMu.Unlock()
	changed()
	<-ctx.Done()
}

// say sets the messages of a session, and notifies those who follow it.
func (f *fakeTalk) say(id string, messages ...adapters.Message) {
	f.talkMu.Lock()
	if f.said == nil {
		f.said = make(map[string][]adapters.Message)
	}
	f.said[id] = messages
	changed := f.changed[id]
	f.talkMu.Unlock()
	if changed != nil {
		changed()
	}
}

func (f *fakeTalk) fail(err error) {
	f.talkMu.Lock()
	defer f.talkMu.Unlock()
	f.failing = err
}

const firstID = "e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33" // selected in full()

func from(role adapters.Role, key, text string, age time.Duration) adapters.Message {
	return adapters.Message{Key: key, Role: role, Text: text, At: ago(age)}
}

func toolCall(key, tool, text string, state adapters.ToolState, age time.Duration) adapters.Message {
	return adapters.Message{Key: key, Role: adapters.FromTool, Tool: tool, State: state, Text: text, At: ago(age)}
}
