package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// searchAgent is an adapter with conversations that are searched by functions.
type searchAgent struct {
	name adapters.Name
	list []adapters.Conversation
	err  error
	slow time.Duration // how long the list takes
}

func (a *searchAgent) Name() adapters.Name { return a.name }

func (a *searchAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

func (a *searchAgent) Conversations(ctx context.Context, _ time.Time) ([]adapters.Conversation, error) {
	select {
	case <-time.After(a.slow):
		return a.list, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var searchDay = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// talk is a conversation of sessions, each named by how many hours ago it changed, with n hits each.
func talk(n int, hours ...int) adapters.Conversation {
	at := func(h int) time.Time { return searchDay.Add(-time.Duration(h) * time.Hour) }
	return adapters.Conversation{Changed: at(hours[0]), Search: func(_ context.Context, _ *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		for _, h := range hours {
			for i := range n {
				if err := found(adapters.Hit{Session: fmt.Sprint(h), Key: fmt.Sprint(i), CWD: fmt.Sprint("/", h), Changed: at(h)}); err != nil {
					return nil, err
				}
			}
		}
		return nil, nil
	}}
}

func searchQuery(t *testing.T) SearchQuery {
	t.Helper()
	p := must.Get(textmatch.Text("x"))(t)
	return SearchQuery{SearchQuery: adapters.SearchQuery{Pattern: p}}
}

func searchFor(ctx context.Context, q SearchQuery, list ...adapters.Adapter) (hits []string, r SearchReport, err error) {
	r, err = New(Config{Adapters: list}).Search(ctx, q, func(h SearchHit) bool { hits = append(hits, h.Session+"/"+h.Key); return true }, nil)
	return hits, r, err
}

// The hits of the newest session come first, whichever agent it belongs to and whichever database holds several
// sessions; and very many hits that wait for their turn end no search.
func TestSearchOrder(t *testing.T) {
	const many = 3 * maxQueued
	a := &searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{talk(2, 9), talk(many, 1), talk(2, 5), talk(0, 2)}}
	b := &searchAgent{name: agentname.OpenCode, list: []adapters.Conversation{talk(many, 0, 3, 6, 12), talk(2, 13, 20)}}
	hits, r, err := searchFor(t.Context(), searchQuery(t), a, b)
	if err != nil || r.Failed() || r.Searched != 6 || r.Found != 6 || r.Hits != len(hits) {
		t.Fatalf("%+v, %v", r, err)
	}
	var want []string
	for _, s := range []struct{ hour, n int }{{0, many}, {1, many}, {3, many}, {5, 2}, {6, many}, {9, 2}, {12, many}, {13, 2}, {20, 2}} {
		for i := range s.n {
			want = append(want, fmt.Sprintf("%d/%d", s.hour, i))
		}
	}
	if !slices.Equal(hits, want) {
		t.Errorf("%d hits, want %d", len(hits), len(want))
	}
}

// The hits of an agent that lists while an older conversation is searched keep their order, also where one of its
// conversations has several sessions.
func TestSearchOrderOfLateAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := talk(1, 50)
		search := old.Search
		old.Search = func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
			time.Sleep(3 * time.Second)
			return search(ctx, q, found)
		}
		prompt := &searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{old}}
		const many = 3 * maxQueued
		late := &searchAgent{name: agentname.OpenCode, list: []adapters.Conversation{talk(many, 0, 9), talk(1, 5)}, slow: 2 * time.Second}
		hits, r, err := searchFor(t.Context(), searchQuery(t), late, prompt)
		hits = slices.DeleteFunc(hits, func(h string) bool { return !strings.HasSuffix(h, "/0") })
		if want := []string{"50/0", "0/0", "5/0", "9/0"}; err != nil || r.Failed() || r.Hits != 2*many+2 || !slices.Equal(hits, want) {
			t.Errorf("first hits %v of %+v, %v; want %v", hits, r, err, want)
		}
	})
}

// An agent that lists late does not hold up the others, and its hits come as well.
func TestSearchLateAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &searchAgent{name: agentname.OpenClaw, list: []adapters.Conversation{talk(3*maxQueued, 0), talk(1, 7)}, slow: 2 * time.Second}
		prompt := &searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{talk(1, 4), talk(1, 8)}}
		began := time.Now()
		var first time.Duration
		q := searchQuery(t)
		r, err := New(Config{Adapters: []adapters.Adapter{late, prompt}}).Search(t.Context(), q, func(SearchHit) bool {
			if first == 0 {
				first = time.Since(began)
			}
			return true
		}, nil)
		if err != nil || r.Hits != 3*maxQueued+3 || first >= late.slow {
			t.Errorf("%+v, %v; the first hit after %s", r, err, first)
		}
	})
}

func TestSearchSaysWhatIsMissing(t *testing.T) {
	broken := adapters.Conversation{Changed: searchDay, Search: func(context.Context, *adapters.SearchQuery, func(adapters.Hit) error) (map[string]int, error) {
		return map[string]int{"line over 8 MB": 2}, adapters.Unreadable("/x", fs.ErrPermission)
	}}
	crashing := adapters.Conversation{Changed: searchDay, Search: func(context.Context, *adapters.SearchQuery, func(adapters.Hit) error) (map[string]int, error) {
		panic("oops")
	}}
	hits, r, err := searchFor(t.Context(), searchQuery(t),
		&searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{broken, talk(1, 1)}},
		&searchAgent{name: agentname.Codex, err: adapters.ErrAbsent},
		&searchAgent{name: agentname.Pi, list: []adapters.Conversation{crashing}},
		&searchAgent{name: agentname.OpenCode, list: []adapters.Conversation{talk(1, 2)}, err: errors.New("half of it")},
		&agent{name: "mute"})
	if err != nil || len(hits) != 2 || !r.Failed() {
		t.Fatalf("%v, %+v, %v", hits, r, err)
	}
	var states []AdapterState
	for _, a := range r.Agents {
		states = append(states, a.State)
	}
	if want := []AdapterState{Failed, Absent, Failed, Failed, Failed}; !slices.Equal(states, want) {
		t.Errorf("%v, want %v", states, want)
	}
	if lines := r.Missing(func(n adapters.Name) string { return string(n) }); len(lines) != 5 {
		t.Errorf("%q", lines)
	}
}

func TestSearchEnds(t *testing.T) {
	a := &searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{talk(100, 1), talk(100, 2)}}
	q := searchQuery(t)
	q.Limit = 150
	if hits, r, err := searchFor(t.Context(), q, a); err != nil || len(hits) != 150 || !r.Limited {
		t.Errorf("limit: %d hits, %+v, %v", len(hits), r, err)
	}
	q = searchQuery(t)
	q.Within = func(folder string) bool { return folder == "/2" }
	if hits, r, err := searchFor(t.Context(), q, a); err != nil || len(hits) != 100 || hits[0] != "2/0" || r.Limited {
		t.Errorf("folder: %d hits, %+v, %v", len(hits), r, err)
	}
	n := 0
	if r, err := New(Config{Adapters: []adapters.Adapter{a}}).Search(t.Context(), searchQuery(t), func(SearchHit) bool { n++; return n < 7 }, nil); err != nil || r.Hits != 7 {
		t.Errorf("the caller: %+v, %v", r, err)
	}
}

// A search that ends at its limit leaves no goroutine behind, also where its workers wait because very many hits are queued.
func TestSearchLimitLeavesNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &searchAgent{name: agentname.Codex, list: []adapters.Conversation{talk(5*maxQueued, 1)}}
		q := SearchQuery{Limit: 10}
		fillQueue := func(SearchHit) bool {
			synctest.Wait()
			return true
		}
		r, err := New(Config{Adapters: []adapters.Adapter{a}, Since: All}).Search(t.Context(), q, fillQueue, nil)
		if err != nil || r.Hits != 10 {
			t.Fatal(r.Hits, err)
		}
	})
}

// 100 searches that end at their limit leave neither goroutines nor open files.
func TestSearchLimitLeavesNothingOpen(t *testing.T) {
	var open atomic.Int32
	reads := talk(5*maxQueued, 1)
	search := reads.Search
	reads.Search = func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		f, err := os.Open(os.Args[0])
		if err != nil {
			return nil, err
		}
		open.Add(1)
		defer open.Add(-1)
		defer func() { _ = f.Close() }()
		return search(ctx, q, found)
	}
	c := New(Config{Adapters: []adapters.Adapter{&searchAgent{name: agentname.Pi, list: []adapters.Conversation{reads, reads}}}})
	q := searchQuery(t)
	q.Limit = 10
	before := runtime.NumGoroutine()
	for range 100 {
		if r, err := c.Search(t.Context(), q, func(SearchHit) bool { return true }, nil); err != nil || !r.Limited {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	eventually.True(t, "every file is closed", func() bool { return open.Load() == 0 })
	eventually.True(t, "every goroutine has ended", func() bool { return runtime.NumGoroutine() <= before })
}

// A search ends with its context although a conversation is on a file system that does not answer.
func TestSearchCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	var left sync.WaitGroup
	left.Add(1)
	hangs := adapters.Conversation{Changed: searchDay, Search: func(context.Context, *adapters.SearchQuery, func(adapters.Hit) error) (map[string]int, error) {
		defer left.Done()
		cancel()
		<-release
		return nil, nil
	}}
	_, _, err := searchFor(ctx, searchQuery(t), &searchAgent{name: agentname.Pi, list: []adapters.Conversation{hangs}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	left.Wait()
}

func TestSearchProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Bool
		slow := adapters.Conversation{Changed: searchDay, Search: func(context.Context, *adapters.SearchQuery, func(adapters.Hit) error) (map[string]int, error) {
			began.Store(true)
			time.Sleep(time.Second)
			return nil, nil
		}}
		var shown []SearchReport
		_, err := New(Config{Adapters: []adapters.Adapter{&searchAgent{name: agentname.Pi, list: []adapters.Conversation{slow, talk(1, 3)}}}}).
			Search(t.Context(), searchQuery(t), func(SearchHit) bool { return true }, func(r SearchReport) { shown = append(shown, r) })
		if err != nil || len(shown) < 5 || shown[len(shown)-1].Found != 2 {
			t.Errorf("%d reports, %v", len(shown), err)
		}
	})
}

// crashingAgent is an adapter whose calls panic, besides the one that lists sessions.
type crashingAgent struct{ agent }

func (a *crashingAgent) Conversations(context.Context, time.Time) ([]adapters.Conversation, error) {
	panic("cannot list")
}

func (a *crashingAgent) Peek(context.Context, adapters.Session, int) ([]adapters.Message, error) {
	panic("cannot peek")
}

func (a *crashingAgent) Push(context.Context, func()) { panic("cannot push") }

// A search reports an adapter that panics while it lists conversations, and searches those of the others.
func TestSearchSurvivesAnAdapterThatPanics(t *testing.T) {
	bad := &crashingAgent{agent{name: agentname.Codex}}
	good := &searchAgent{name: agentname.ClaudeCode, list: []adapters.Conversation{talk(1, 1)}}
	hits, r, err := searchFor(t.Context(), searchQuery(t), bad, good)
	if err != nil || !slices.Equal(hits, []string{"1/0"}) {
		t.Errorf("hits %v, %v", hits, err)
	}
	if lines := r.Missing(func(n adapters.Name) string { return string(n) }); len(lines) != 1 || !strings.Contains(lines[0], "codex: internal error: cannot list") {
		t.Errorf("missing: %v", lines)
	}
}

// The error for the surroundings of a hit names the agent that failed, and why: the session is not reported as gone.
func TestAroundOfAnAgentThatFails(t *testing.T) {
	a := &crashingAgent{agent{name: agentname.ClaudeCode}}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	around := func(cause string) {
		t.Helper()
		_, err := c.Around(t.Context(), agentname.ClaudeCode, "s", "1")
		text := fmt.Sprint(err)
		if errors.Is(err, ErrNoSession) || !strings.Contains(text, "claude-code") || !strings.Contains(text, cause) {
			t.Errorf("the error is %v, want one with claude-code and %q", err, cause)
		}
	}
	a.says(adapters.Unreadable("/x", errors.New("busy")))
	around("busy")
	a.hook(func(context.Context, adapters.Query) { panic("cannot read") })
	around("cannot read")
	a.hook(nil)
	a.says(nil, on("s", adapters.Idle, 0))
	around("cannot peek")
	a.says(nil)
	if _, err := c.Around(t.Context(), agentname.ClaudeCode, "s", "1"); !errors.Is(err, ErrNoSession) {
		t.Errorf("without the session the error is %v", err)
	}
}

// An agent whose files are not read has no conversations that could be missing.
func TestSearchWithoutUnread(t *testing.T) {
	adapters.SetUnread([]adapters.Unread{{Name: "mute", Title: "Mute", Programs: []string{"mute"}}})
	t.Cleanup(func() { adapters.SetUnread(nil) })
	_, r, err := searchFor(t.Context(), searchQuery(t), &agent{name: "mute"})
	if err != nil || r.Failed() || len(r.Agents) != 1 || r.Agents[0].State != Absent {
		t.Errorf("%+v, %v", r, err)
	}
}
