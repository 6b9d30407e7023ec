package ui

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
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

// searchTerms is what the user searches for.
type searchTerms struct {
	text         string
	regex, tools bool
	days         int // 0: all
}

// query returns the query of the terms.
func (t *searchTerms) query(now time.Time) (q app.SearchQuery, err error) {
	compile := textmatch.Text
	if t.regex {
		compile = textmatch.Regexp
	}
	q.Pattern, err = compile(t.text)
	if err != nil {
		return q, err
	}
	if t.days > 0 {
		q.Since = now.AddDate(0, 0, -t.days)
	}
	q.Tools, q.Limit = t.tools, mostHits
	return q, nil
}

// hitText is a hit with the texts that the window shows.
type hitText struct {
	agent        adapters.Name
	session, key string
	line         textmatch.Part
	who, where   string
	at           time.Time
}

// searchResult is what a search has found so far.
type searchResult struct {
	terms   searchTerms
	hits    []hitText
	report  app.SearchReport
	over    bool
	mistake string // why the search is not possible with these terms; empty: it is
}

// startSearch begins a search after searchPause, on its own goroutine. It delivers the hits so far on Fyne's goroutine, at
// most once per deliverPause. The search ends with stop or with ctx; after that nothing is delivered.
func startSearch(ctx context.Context, core Core, post func(func()), now func() time.Time, terms searchTerms, deliver func(*searchResult)) (stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	out := &latest[searchResult]{ctx: ctx, do: post, deliver: deliver}
	go func() {
		if bounded.Wait(ctx, searchPause) == nil {
			runSearch(ctx, core, now, terms, out)
		}
	}()
	return stop
}

func runSearch(ctx context.Context, core Core, now func() time.Time, terms searchTerms, out *latest[searchResult]) {
	q, err := terms.query(now())
	if err != nil {
		out.set(&searchResult{terms: terms, over: true, mistake: errorText(err)})
		return
	}
	var mu sync.Mutex // found and progress are called one at a time, which the race detector cannot know
	var hits []hitText
	var last app.SearchReport
	delivered := time.Now()
	set := func(r app.SearchReport, over bool) {
		delivered = time.Now()
		out.set(&searchResult{terms: terms, hits: slices.Clip(hits), report: r, over: over})
	}
	report, _ := core.Search(ctx, q, func(h app.SearchHit) bool {
		mu.Lock()
		defer mu.Unlock()
		hits = append(hits, newHitText(&h))
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

// The marks of Markdown that a line has most often: those of emphasis and code, and of emphasis by one asterisk, and those at the beginning of a line.
var (
	strongMarks = strings.NewReplacer("**", "", "`", "")
	weakMark    = regexp.MustCompile(`(^|[^\w*])\*([^\s*]|[^\s*][^*]*[^\s*])\*($|[^\w*])`)
	lineMark    = regexp.MustCompile(`^\s*(#{1,6}|[*+>-]|\d+\.) +`)
)

// unmarked returns a line without the marks of Markdown, unless the match has some.
func unmarked(line textmatch.Part) textmatch.Part {
	const edge = "\x00" // at both ends of the match
	text := edge + line.Match + edge
	if strongMarks.Replace(text) != text || strings.Contains(line.Before+line.Match+line.After, edge) {
		return line
	}
	text = lineMark.ReplaceAllString(strongMarks.Replace(line.Before+text+line.After), "")
	parts := strings.Split(weakMark.ReplaceAllString(text, "$1$2$3"), edge)
	if len(parts) != 3 {
		return line
	}
	return textmatch.Part{Before: parts[0], Match: parts[1], After: parts[2]}
}

// newHitText cleans a hit for the screen. It must not be called on Fyne's goroutine.
func newHitText(h *app.SearchHit) hitText {
	who := present.Speaker(adapters.Message{Role: h.Role}, h.Agent)
	if h.Role == adapters.FromTool {
		who = present.Tool(adapters.Message{Tool: h.Tool})
	}
	line := present.Match(h.Part, hitCells)
	if h.Role == adapters.FromAgent {
		line = unmarked(line)
	}
	line.Before = present.CutStart(line.Before, hitCells/5+1) // so that the match is visible in a narrow list
	where := present.Project(tail(h.CWD, maxRowText))
	if h.Role != adapters.FromAgent {
		where = present.AgentName(h.Agent) + " · " + where
	}
	return hitText{agent: h.Agent, session: h.Session, key: h.Key, line: line, who: who, where: where, at: h.At}
}
