package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

// SearchQuery describes what is searched for, and where.
type SearchQuery struct {
	adapters.SearchQuery
	// Since leaves out sessions that were last changed before this time. Zero: none are left out.
	Since time.Time
	// Within leaves out sessions whose folder it does not accept; nil: none. Any goroutine
	// may call it.
	Within func(folder string) bool
	// Limit is the number of hits after which the search ends; 0: no limit.
	Limit int
}

// SearchHit is a message that contains the search text.
type SearchHit struct {
	Agent adapters.Name
	adapters.Hit
}

// maxSearchProblems limits the number of problems of one agent in a report.
const maxSearchProblems = 20

// Search searches the conversations of all adapters and calls found for each hit, those of the newest session first, and of
// one session in the order of the conversation. It ends when all was searched, when ctx is done, when found returns false,
// or at the limit. It calls found for each hit and progress at intervals, one after the other, on its own goroutine.
//
// The report says what could not be searched: an answer without hits and with a problem does not mean that there are none.
// The error is ctx's.
func (c *Core) Search(ctx context.Context, q SearchQuery, found func(SearchHit) bool, progress func(SearchReport)) (SearchReport, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &search{core: c, query: q, changed: sync.NewCond(&sync.Mutex{}), began: time.Now()}
	// Not undone at the end: workers that wait for room in a queue end only when they are woken after the cancel.
	context.AfterFunc(inner, s.wake)
	s.list(inner)
	for range runtime.GOMAXPROCS(0) {
		go s.work(inner)
	}
	ticker := time.AfterFunc(progressPause, s.wake)
	defer ticker.Stop()
	hits, shown := 0, time.Now()
	for {
		h, state := s.next(inner)
		if now := time.Now(); progress != nil && (state == nextWait || now.Sub(shown) >= progressPause) {
			shown = now
			ticker.Reset(progressPause)
			progress(s.report(hits))
		}
		switch state {
		case nextOver:
			return s.report(hits), ctx.Err()
		case nextHit:
			hits++
			if !found(h) || q.Limit > 0 && hits >= q.Limit {
				r := s.report(hits)
				r.Limited = true
				return r, ctx.Err()
			}
		}
	}
}

// progressPause is the interval at which a search reports its progress.
const progressPause = 100 * time.Millisecond

// search is one running search. Workers take the conversations in their order; each conversation has a queue of hits. next
// takes the newest hit of all queues.
type search struct {
	core  *Core
	query SearchQuery
	began time.Time

	changed *sync.Cond // guards all fields below
	listing int        // adapters that list their conversations
	lists   int        // adapters that have listed them
	waiting []*searched
	active  []*searched // conversations that a worker has taken, or that have hits that were not taken
	agents  []SearchedAgent
	found   int
	done    int
	woken   bool
}

// searched is one conversation with its hits.
type searched struct {
	adapters.Conversation
	agent   int       // index of the adapter
	listed  int       // how many adapters had listed their conversations before
	changed time.Time // Changed as the adapter reported it
	hits    []adapters.Hit
	over    bool
}

// maxQueued is how many hits of a conversation may wait to be shown before its worker waits. It does not limit a
// conversation of several sessions: see search.add.
const maxQueued = 1000

// list asks all adapters for their conversations.
func (s *search) list(ctx context.Context) {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	for i, src := range s.core.sources {
		s.agents = append(s.agents, SearchedAgent{Name: src.adapter.Name(), State: Pending})
		if d, _ := adapters.Describe(src.adapter.Name()); d.Unread {
			s.agents[i].State = Absent // it has no conversations that Rollcall knows of
			continue
		}
		a, ok := src.adapter.(adapters.Searcher)
		if !ok {
			s.agents[i].State = Failed
			s.agents[i].Problems = []string{"its conversations can't be searched"}
			continue
		}
		s.listing++
		go func() {
			list, err := within(ctx, s.core.cfg.Limit, func(ctx context.Context) ([]adapters.Conversation, error) {
				return a.Conversations(ctx, s.query.Since)
			})
			s.listed(i, list, err)
		}()
	}
}

// listed adds the conversations of an adapter to those that wait to be searched. A conversation that is newer than those
// being searched comes next after them, so that hits which were shown keep their places.
func (s *search) listed(agent int, list []adapters.Conversation, err error) {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	s.listing--
	s.lists++
	a := &s.agents[agent]
	a.State = OK
	if isAbsent(err) {
		a.State = Absent
	} else if err != nil {
		a.add(err)
	}
	s.found += len(list)
	for i := range list {
		c := &searched{Conversation: list[i], agent: agent, listed: s.lists, changed: list[i].Changed}
		for _, taken := range s.active {
			if taken.Changed.Before(c.Changed) {
				c.Changed = taken.Changed
			}
		}
		s.waiting = append(s.waiting, c)
	}
	slices.SortStableFunc(s.waiting, func(a, b *searched) int { return b.compare(a) }) // the newest last
	s.changed.Broadcast()
}

// listPatience is how long a search waits for slow adapters before it begins with the
// conversations of the others.
const listPatience = 50 * time.Millisecond

// take returns the next conversation to search; nil when there is none left.
func (s *search) take(ctx context.Context) *searched {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	for ctx.Err() == nil {
		patient := s.listing > 0 && time.Since(s.began) < listPatience
		switch n := len(s.waiting); {
		case n > 0 && !patient:
			c := s.waiting[n-1]
			s.waiting = s.waiting[:n-1]
			s.active = append(s.active, c)
			return c
		case n > 0:
			time.AfterFunc(listPatience, s.changed.Broadcast)
		case s.listing == 0:
			return nil
		}
		s.changed.Wait()
	}
	return nil
}

// work searches conversations until none is left.
func (s *search) work(ctx context.Context) {
	for c := s.take(ctx); c != nil; c = s.take(ctx) {
		skipped, err := guarded(func() (map[string]int, error) {
			return c.Search(ctx, &s.query.SearchQuery, func(h adapters.Hit) error { return s.add(ctx, c, h) })
		})
		s.finish(ctx, c, skipped, err)
	}
}

// add queues a hit. It waits while a conversation of one session has very many hits that were not shown. The wait ends,
// because the hits of this conversation are shown before those of all conversations that no worker has taken. It never waits
// for a database with several sessions, since hits of its later sessions may be shown after those conversations.
func (s *search) add(ctx context.Context, c *searched, h adapters.Hit) error {
	if s.query.Within != nil && (h.CWD == "" || !s.query.Within(h.CWD)) {
		return ctx.Err()
	}
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	several := h.Changed.Before(c.changed)
	for len(c.hits) >= maxQueued && !several && ctx.Err() == nil {
		s.changed.Wait()
	}
	c.hits = append(c.hits, h)
	s.changed.Broadcast()
	return ctx.Err()
}

func (s *search) finish(ctx context.Context, c *searched, skipped map[string]int, err error) {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	c.over = true
	s.done++
	a := &s.agents[c.agent]
	if err != nil && ctx.Err() == nil {
		a.add(err)
	}
	for reason, n := range skipped {
		if a.Skipped == nil {
			a.Skipped = map[string]int{}
		}
		a.Skipped[reason] += n
	}
	s.changed.Broadcast()
}

func (s *search) wake() {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	s.woken = true
	s.changed.Broadcast()
}

// The results of next: a hit, none yet, or the end.
type nextState uint8

const (
	nextHit nextState = iota
	nextWait
	nextOver
)

// next returns the hit of the newest session, as soon as no hit of a newer session can follow. It returns nextWait after a
// call of wake.
func (s *search) next(ctx context.Context) (SearchHit, nextState) {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	for {
		s.active = slices.DeleteFunc(s.active, func(c *searched) bool { return c.over && len(c.hits) == 0 })
		switch {
		case ctx.Err() != nil, s.listing == 0 && len(s.waiting) == 0 && len(s.active) == 0:
			return SearchHit{}, nextOver
		case s.woken:
			s.woken = false
			return SearchHit{}, nextWait
		}
		var first *searched
		for _, c := range s.active {
			if first == nil || c.compare(first) < 0 {
				first = c
			}
		}
		newerWaits := func() bool {
			n := len(s.waiting)
			return n > 0 && s.waiting[n-1].compare(first) < 0
		}
		if first != nil && len(first.hits) > 0 && !newerWaits() {
			h := first.hits[0]
			first.hits = first.hits[1:]
			s.changed.Broadcast()
			return SearchHit{s.agents[first.agent].Name, h}, nextHit
		}
		s.changed.Wait()
	}
}

// compare returns a negative number if the next hit of c comes before that of d. Hits are ordered by the time that their
// conversations have in this search. Conversations that were listed too late for the place of their own time are ordered by
// when they were listed, and those of one list by their own time.
func (c *searched) compare(d *searched) int {
	at, own := c.bound()
	otherAt, otherOwn := d.bound()
	return cmp.Or(otherAt.Compare(at), cmp.Compare(c.listed, d.listed), otherOwn.Compare(own))
}

// bound returns the newest time that the next hit of a conversation can have: its place in this search, and its own time.
func (c *searched) bound() (inSearch, own time.Time) {
	if len(c.hits) == 0 {
		return c.Changed, c.changed
	}
	own = c.hits[0].Changed
	if own.Before(c.Changed) {
		return own, own
	}
	return c.Changed, own
}

const (
	// aroundBefore and aroundAfter are how many messages are shown before and after a hit.
	aroundBefore = 30
	aroundAfter  = 100
	// aroundMost is the number of messages at the end of a conversation among which a hit is looked for.
	aroundMost = 20_000
)

// Around is a hit in its conversation.
type Around struct {
	Session  Session
	Messages []adapters.Message // the oldest first
	// At is the index of the hit's message. It is -1 if the message is not in the part of the conversation that is shown: it is
	// not among the last 20,000 messages, or it is in a branch of the conversation that was abandoned. Messages are then the
	// last ones.
	At int
}

// Around returns the session of a hit, and the messages around it. Its errors wrap ErrNoSession, or name the agent and wrap
// ErrNoAnswer or an error of Peek, or are ctx's.
func (c *Core) Around(ctx context.Context, agent adapters.Name, id, key string) (Around, error) {
	s, err := c.Current(ctx, agent, id)
	switch {
	case errors.Is(err, ErrNoSession):
		return Around{}, fmt.Errorf("%w any more: %s", ErrNoSession, id)
	case errors.Is(err, ErrNoAnswer):
		return Around{}, fmt.Errorf("%s: %w", agent, err)
	case err != nil:
		return Around{}, err
	}
	for n := 200; ; n *= 4 {
		list, err := c.Peek(ctx, s, n)
		if err != nil {
			return Around{Session: s}, fmt.Errorf("%s: %w", agent, err)
		}
		i := slices.IndexFunc(list, func(m adapters.Message) bool { return m.Key == key })
		if i < 0 && len(list) >= n && n < aroundMost {
			continue
		}
		if i < 0 {
			return Around{s, list[max(0, len(list)-aroundAfter):], -1}, nil
		}
		from := max(0, i-aroundBefore)
		return Around{s, list[from:min(len(list), i+aroundAfter)], i - from}, nil
	}
}
