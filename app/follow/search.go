package follow

import (
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/bounded"
	"rollcall/textmatch"
)

const (
	// searchPause is the time after the last change of the fields at which a search begins.
	searchPause = 200 * time.Millisecond
	// mostHits is the largest number of hits that the page shows.
	mostHits = 2000
	// deliverPause is the least time between two deliveries of a search.
	deliverPause = 100 * time.Millisecond
)

// Terms is what the user searches for.
type Terms struct {
	Text         string
	Regex, Tools bool
	Days         int // 0: all
}

// query returns the query of the terms.
func (t *Terms) query(now time.Time) (q app.SearchQuery, err error) {
	compile := textmatch.Text
	if t.Regex {
		compile = textmatch.Regexp
	}
	q.Pattern, err = compile(t.Text)
	if err != nil {
		return q, err
	}
	if t.Days > 0 {
		q.Since = now.AddDate(0, 0, -t.Days)
	}
	q.Tools, q.Limit = t.Tools, mostHits
	return q, nil
}

// Hit is a hit with the texts that the window shows.
type Hit struct {
	Agent        adapters.Name
	Session, Key string
	Line         textmatch.Part
	Who, Where   string
	At           time.Time
}

// Result is what a search has found so far.
type Result struct {
	Terms   Terms
	Hits    []Hit
	Report  app.SearchReport
	Over    bool
	Mistake string // why the search is not possible with these terms; empty: it is
}

// searcher searches the conversations of all sessions; *app.Core implements it.
type searcher interface {
	Search(ctx context.Context, q app.SearchQuery, found func(app.SearchHit) bool, progress func(app.SearchReport)) (app.SearchReport, error)
}

// Search begins a search after searchPause, on its own goroutine. It delivers the hits so far on the goroutine of the surface, at
// most once per deliverPause. The search ends with stop or with ctx; after that nothing is delivered.
func Search(ctx context.Context, core searcher, post func(func()), now func() time.Time, terms Terms, deliver func(*Result)) (stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	out := NewLatest(ctx, post, deliver)
	go func() {
		if bounded.Wait(ctx, searchPause) == nil {
			runSearch(ctx, core, now, terms, out)
		}
	}()
	return stop
}

func runSearch(ctx context.Context, core searcher, now func() time.Time, terms Terms, out *Latest[Result]) {
	q, err := terms.query(now())
	if err != nil {
		out.Set(&Result{Terms: terms, Over: true, Mistake: present.Error(err)})
		return
	}
	var mu sync.Mutex // found and progress are called one at a time, which the race detector cannot know
	var hits []Hit
	var last app.SearchReport
	delivered := time.Now()
	set := func(r app.SearchReport, over bool) {
		delivered = time.Now()
		out.Set(&Result{Terms: terms, Hits: slices.Clip(hits), Report: r, Over: over})
	}
	report, _ := core.Search(ctx, q, func(h app.SearchHit) bool {
		mu.Lock()
		defer mu.Unlock()
		hits = append(hits, NewHit(&h))
		if len(hits) == 1 || time.Since(delivered) >= deliverPause {
			set(last, false)
		}
		return ctx.Err() == nil
	}, func(r app.SearchReport) {
		mu.Lock()
		defer mu.Unlock()
		last = r
		set(r, false)
	})
	mu.Lock()
	defer mu.Unlock()
	set(report, true)
}

// hitCells is the largest number of cells of a hit's line, before the line is cut to the width of the window.
const hitCells = 160

// NewHit cleans a hit for the screen. It must not be called on the goroutine of the surface.
func NewHit(h *app.SearchHit) Hit {
	who := present.Speaker(adapters.Message{Role: h.Role}, h.Agent)
	if h.Role == adapters.FromTool {
		who = present.Tool(adapters.Message{Tool: h.Tool})
	}
	line := present.Match(h.Part, hitCells)
	if h.Role == adapters.FromAgent {
		line = present.Unmarked(line)
	}
	line.Before = present.CutStart(line.Before, hitCells/5+1) // so that the match is visible in a narrow list
	where := present.Project(present.Tail(h.CWD, describe.MaxText))
	if h.Role != adapters.FromAgent {
		where = present.AgentName(h.Agent) + " · " + where
	}
	return Hit{Agent: h.Agent, Session: h.Session, Key: h.Key, Line: line, Who: who, Where: where, At: h.At}
}
