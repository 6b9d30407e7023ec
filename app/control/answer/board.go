package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// Entry has what one waiting session asks, as far as it is known.
type Entry struct {
	Pending
	// Read reports that the agent was asked. Until then Requests is empty.
	Read bool
	// Nothing reports that the agent said several times that nothing waits, although its session counts as waiting. Right after
	// an answer the agent says so too, until the session's status is updated.
	Nothing bool
}

// Board keeps what every waiting session asks, for the surfaces that show it while it changes. An agent is asked when its
// session begins to wait, when the session changes, and at intervals while it waits. Its methods may be called on any
// goroutine and never wait for an agent.
type Board struct {
	answers *Answers
	changed func()
	again   time.Duration

	mu      sync.Mutex
	ctx     context.Context // of Run; nil: it does not run
	entries map[app.SessionKey]*boardEntry
}

// boardEntry is an entry with the state that is needed to keep it current.
type boardEntry struct {
	Entry
	seen    sign      // the session's sign at the last reading
	readAt  time.Time // when the agent was asked last
	reading bool      // the agent is being asked now
	dirty   bool      // the session changed meanwhile
	empty   int       // how many readings in a row found nothing that waits, without the early ones
	early   int       // how many of earlyReadings were planned since the session changed
}

// earlyReadings are the times from one reading to the next while a session that has just begun to wait shows nothing that can be
// answered: Claude Code is waiting before its terminal shows the prompt (2.1.332: up to 1.3 s).
var earlyReadings = []time.Duration{300 * time.Millisecond, 700 * time.Millisecond, 2 * time.Second}

// manyEmpty is the number of empty readings in a row after which the board shows that nothing waits.
const manyEmpty = 3

// sign contains the fields of a session that change when it asks for something else.
type sign struct {
	waitingFor adapters.WaitingFor
	active     time.Time
	stale      bool
}

func signOf(s *app.Session) sign { return sign{s.WaitingFor, s.LastActivityAt, s.Stale != nil} }

// NewBoard returns a board that reads the requests of a waiting session at the interval again, or only when the session
// changes if again is 0. changed is called on a goroutine of the board each time that the result of List has changed;
// changed must not wait for the board.
func NewBoard(answers *Answers, again time.Duration, changed func()) *Board {
	return &Board{answers: answers, changed: changed, again: again, entries: map[app.SessionKey]*boardEntry{}}
}

// Run reads requests until ctx is done. It does not wait for readings that have not finished then.
func (b *Board) Run(ctx context.Context) {
	b.mu.Lock()
	b.ctx = ctx
	b.readDue(time.Now())
	b.mu.Unlock()
	tick := time.NewTicker(max(b.again, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			b.mu.Lock()
			b.ctx = nil
			b.mu.Unlock()
			return
		case now := <-tick.C:
			b.mu.Lock()
			b.readDue(now)
			b.mu.Unlock()
		}
	}
}

// SetSessions takes the sessions of a snapshot. Those that wait are listed, the others are dropped.
func (b *Board) SetSessions(snap *app.Snapshot) {
	b.mu.Lock()
	waiting := make(map[app.SessionKey]bool)
	moved := false
	for s := range snap.All() {
		if s.Status != adapters.Waiting {
			break // those that wait come first
		}
		k := s.Key()
		if waiting[k] { // listed twice: resumed by two processes
			continue
		}
		waiting[k] = true
		e := b.entries[k]
		if e == nil {
			e = &boardEntry{}
			b.entries[k], moved = e, true
		}
		e.Place = Place(s)
		moved = moved || signOf(&e.Session) != signOf(s)
		e.Session = *s
	}
	for k := range b.entries {
		if !waiting[k] {
			delete(b.entries, k)
			moved = true
		}
	}
	b.readDue(time.Now())
	b.mu.Unlock()
	if moved {
		b.changed()
	}
}

// Reread asks the agent of a session for its requests again, after one was answered.
func (b *Board) Reread(agent adapters.Name, session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[app.SessionKey{Agent: agent, ID: session}]; e != nil {
		e.seen, e.dirty = sign{}, true
		b.readDue(time.Now())
	}
}

// List returns what the waiting sessions ask, those that have waited longest first.
func (b *Board) List() []Entry {
	b.mu.Lock()
	list := make([]Entry, 0, len(b.entries))
	for _, e := range b.entries {
		list = append(list, e.Entry)
	}
	b.mu.Unlock()
	slices.SortFunc(list, func(x, y Entry) int {
		return cmp.Or(x.since().Compare(y.since()), strings.Compare(x.Session.ID, y.Session.ID))
	})
	return list
}

// Await returns once the board has read what a session asks for now, or when ctx is done.
func (b *Board) Await(ctx context.Context, s *app.Session) {
	tick := time.NewTicker(awaitPause)
	defer tick.Stop()
	for {
		b.mu.Lock()
		e := b.entries[s.Key()]
		current := e != nil && e.Read && !e.reading && e.seen == signOf(&e.Session) && e.Session.WaitingFor == s.WaitingFor
		b.mu.Unlock()
		if current {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// awaitPause is the time between two looks of Await.
const awaitPause = 10 * time.Millisecond

// Of returns what one session asks; ok is false if it does not wait.
func (b *Board) Of(agent adapters.Name, session string) (e Entry, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if x, ok := b.entries[app.SessionKey{Agent: agent, ID: session}]; ok {
		return x.Entry, true
	}
	return Entry{}, false
}

// readDue starts the readings that are due. The caller holds the lock.
func (b *Board) readDue(now time.Time) {
	if b.ctx == nil {
		return
	}
	for k, e := range b.entries {
		due := !e.Read || e.dirty || e.seen != signOf(&e.Session) || b.again > 0 && now.Sub(e.readAt) >= b.again
		if due && !e.reading {
			if e.seen != signOf(&e.Session) {
				e.early = 0
			}
			e.reading = true
			e.dirty = false
			e.seen = signOf(&e.Session)
			e.readAt = now
			go b.read(b.ctx, k, e)
		}
	}
}

// read asks the agent of an entry, and stores the answer. One reading of a session runs at a time, so that an agent that
// ignores its time limit costs one goroutine; its session is then shown with an error.
func (b *Board) read(ctx context.Context, k app.SessionKey, e *boardEntry) {
	b.mu.Lock()
	s := e.Session
	b.mu.Unlock()
	done := make(chan Pending, 1)
	go func() { done <- b.answers.Of(ctx, s) }()
	late := time.NewTimer(askLimit + time.Second)
	defer late.Stop()
	select {
	case p := <-done:
		b.take(ctx, k, e, p, false)
	case <-late.C:
		b.take(ctx, k, e, Pending{Session: s, Place: Place(&s), Err: fmt.Errorf("%w within %s", app.ErrNoAnswer, present.Age(askLimit))}, true)
		b.take(ctx, k, e, <-done, false)
	}
}

// take shows what an agent answered, unless its session no longer waits. still reports that the reading goes on.
func (b *Board) take(ctx context.Context, k app.SessionKey, e *boardEntry, p Pending, still bool) {
	b.mu.Lock()
	e.reading = still
	moved := false
	if ctx.Err() == nil && b.entries[k] == e {
		early := !still && !p.answerable() && e.early < len(earlyReadings)
		if early {
			b.readAgain(k, e, earlyReadings[e.early])
			e.early++
		} else {
			e.empty++
		}
		if len(p.Requests) > 0 || p.Err != nil {
			e.empty = 0
		}
		nothing := e.empty >= manyEmpty
		moved = !e.Read || !sameAsked(&e.Pending, &p) || nothing != e.Nothing
		p.Session = e.Session // a later snapshot may have updated the session
		e.Pending = p
		e.Read = true
		e.Nothing = nothing
		b.readDue(time.Now())
	}
	b.mu.Unlock()
	if moved {
		b.changed()
	}
}

// readAgain reads what a session asks once more after a while, if it still waits then. The caller holds the lock.
func (b *Board) readAgain(k app.SessionKey, e *boardEntry, after time.Duration) {
	time.AfterFunc(after, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.entries[k] == e {
			e.dirty = true
			b.readDue(time.Now())
		}
	})
}

// answerable reports whether a request can be answered from here.
func (p *Pending) answerable() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool { return r.CanAllow || r.CanDeny || r.CanReply })
}

// sameAsked reports whether two readings of a session show the same.
func sameAsked(x, y *Pending) bool {
	if x.Place != y.Place || (x.Err == nil) != (y.Err == nil) || x.Err != nil && x.Err.Error() != y.Err.Error() {
		return false
	}
	return slices.EqualFunc(x.Requests, y.Requests, func(r, q Request) bool {
		return r.Key == q.Key && r.CanAllow == q.CanAllow && r.CanDeny == q.CanDeny && r.CanReply == q.CanReply && r.OneKey == q.OneKey && slices.Equal(r.Dangers, q.Dangers) && r.AskedAt.Equal(q.AskedAt)
	})
}
