package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/follow"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/uitest"
	"rollcall/textmatch"
)

// searchCore is a fakeCore with conversations to search.
type searchCore struct {
	*fakeCore
	mu       sync.Mutex
	hits     []app.SearchHit
	report   app.SearchReport
	hold     chan struct{} // when set, a search waits for it after its hits
	around   app.Around
	err      error // of Around
	queries  []app.SearchQuery
	canceled int
}

func (c *searchCore) Search(ctx context.Context, q app.SearchQuery, found func(app.SearchHit) bool, progress func(app.SearchReport)) (app.SearchReport, error) {
	c.mu.Lock()
	c.queries = append(c.queries, q)
	hits := c.hits
	report := c.report
	hold := c.hold
	c.mu.Unlock()
	for _, h := range hits {
		if !found(h) {
			return report, ctx.Err()
		}
	}
	if hold != nil {
		progress(app.SearchReport{Hits: len(hits), Searched: 340, Found: 1000})
		select {
		case <-hold:
		case <-ctx.Done():
			c.mu.Lock()
			c.canceled++
			c.mu.Unlock()
		}
	}
	return report, ctx.Err()
}

func (c *searchCore) Around(context.Context, adapters.Name, string, string) (app.Around, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.around, c.err
}

func hitOf(agent adapters.Name, session, cwd string, role adapters.Role, before, match, after string, age time.Duration) app.SearchHit {
	return app.SearchHit{Agent: agent, Hit: adapters.Hit{Session: session, CWD: cwd, Key: "k" + session, Role: role, At: ago(age), Changed: ago(age),
		Part: textmatch.Part{Before: before, Match: match, After: after}}}
}

func someHits() []app.SearchHit {
	hits := []app.SearchHit{
		hitOf(agentname.ClaudeCode, firstID, "/home/dev/projects/rollcall", adapters.FromUser, "The parser test fails about once in twenty runs on CI. Find out why and fix the ", "flaky", " cause, not the symptom.", 52*time.Minute),
		hitOf(agentname.ClaudeCode, firstID, "/home/dev/projects/rollcall", adapters.FromAgent, "The test is ", "flaky", " because the map is ranged over; I sort its keys first.", 40*time.Minute),
		hitOf(agentname.Codex, "019a-codex-2", "/home/dev/projects/compiler-experiments", adapters.FromAgent, strings.Repeat("a long line before the match ", 12), "Flaky", " under load", 26*time.Hour),
		hitOf(agentname.OpenCode, "ses_1", "/home/dev/projects/website", adapters.FromUser, "\x1b[31m", "flaky", "\x1b[0m \u202etxet desrever", 400*24*time.Hour),
		hitOf(agentname.Pi, "pi-1", "/home/dev/notes", adapters.FromUser, "会话 ", "flaky", " テスト", 50*24*time.Hour),
	}
	hits[1].Key = "k-second"
	return hits
}

func openSearch(t *testing.T) (*window, *searchCore) {
	t.Helper()
	core := &searchCore{fakeCore: &fakeCore{snapshot: full()}, hits: someHits(),
		report: app.SearchReport{Searched: 1200, Found: 1200, Agents: []app.SearchedAgent{{Name: agentname.ClaudeCode, State: app.OK}}}}
	w := openWith(t, core, Options{Agents: usualAgents()})
	w.ui.open(pageSearch)
	return w, core
}

// searchFor searches for a text until there are hits or, with a title, a message with it.
func (w *window) searchFor(text, title string) {
	w.t.Helper()
	p := w.ui.search
	p.entry.SetText(text)
	w.until("the search for "+text, func() bool {
		m := p.instead()
		return p.result.Terms.Text == text && (m == nil && title == "" || m != nil && m.Title == title)
	})
}

// usageSays waits until the Usage page shows a text.
func (w *window) usageSays(text string) {
	w.t.Helper()
	w.until(text, func() bool { return strings.Contains(strings.Join(shownTexts(w.ui.usage.Content), "\n"), text) })
}

func TestSearchPage(t *testing.T) {
	w, core := openSearch(t)
	shows(t, w.ui.search.content, "Finds what you and the agents said", "Choose a hit")
	w.shoot("search-empty")
	core.around = app.Around{Session: core.snapshot.Sessions()[0], At: 40}
	for i := range 80 {
		core.around.Messages = append(core.around.Messages, from(adapters.FromUser, fmt.Sprintf("u%d", i), fmt.Sprintf("Prompt number %d of a long conversation.", i), time.Hour))
	}
	core.around.Messages[40] = from(adapters.FromUser, "k"+firstID, "The parser test fails about once in twenty runs on CI. Find out why and fix the flaky cause, not the symptom.", 52*time.Minute)
	w.searchFor("flaky", "")
	w.until("the end", func() bool { return w.ui.search.result.Over })
	shows(t, w.ui.search.content, "5 messages in 4 sessions", "flaky", "You · Claude Code · rollcall", "Codex · compiler-experiments", "Claude Code · rollcall")
	if all := strings.Join(shownTexts(w.ui.search.content), "\n"); strings.ContainsAny(all, "\x1b\u202e") {
		t.Errorf("hostile text is shown: %q", all)
	}
	w.ui.host.Focus(w.ui.search.entry)
	w.press(w.ui.search.entry, fyne.KeyReturn)
	if w.win.Canvas().Focused() != fyne.Focusable(w.ui.search.list) {
		t.Error("Enter in the field doesn't lead to the hits")
	}
	w.press(w.ui.search.list, fyne.KeyReturn)
	w.until("the conversation", func() bool { return len(w.ui.search.hit.conversation.views) == 80 })
	w.ui.shortcuts[fyne.KeyF]()
	if w.ui.page != pageSearch || w.win.Canvas().Focused() != fyne.Focusable(w.ui.search.entry) {
		t.Error("Ctrl+F doesn't lead to the field of the page")
	}
	w.win.Canvas().Capture()
	shows(t, w.ui.search.hit.content, "Found here", "fix the flaky cause", "Show in Sessions")
	c := w.ui.search.hit.conversation
	if at := c.views[40].content.Position().Y; at < c.scroll.Offset.Y || at > c.scroll.Offset.Y+c.scroll.Size().Height {
		t.Errorf("the hit is at %v, and %v is visible", at, c.scroll.Offset.Y)
	}
	w.shoot("search-full")
	w.win.Resize(fyne.NewSize(720, 480))
	w.shoot("search-small")
}

func TestSearchPageProgress(t *testing.T) {
	w, core := openSearch(t)
	core.hold = make(chan struct{})
	core.hits = nil
	w.ui.search.entry.SetText("slow")
	w.until("the progress", func() bool { return w.ui.search.result.Report.Found == 1000 })
	shows(t, w.ui.search.content, "Searching…", "340 of 1,000 conversations")
	w.shoot("search-loading")
	core.mu.Lock()
	core.hits = someHits()
	core.mu.Unlock()
	w.ui.search.entry.SetText("slower") // ends the search before
	w.until("hits while it searches", func() bool {
		return len(w.ui.search.result.Hits) > 0 && w.ui.search.result.Report.Found == 1000 && !w.ui.search.result.Over
	})
	shows(t, w.ui.search.content, "5 messages", "340 of 1,000 conversations")
	core.mu.Lock()
	defer core.mu.Unlock()
	if core.canceled != 1 || len(core.queries) != 2 {
		t.Errorf("%d searches, %d cancelled", len(core.queries), core.canceled)
	}
}

func TestSearchPageFailures(t *testing.T) {
	w, core := openSearch(t)
	core.report.Agents = append(core.report.Agents, app.SearchedAgent{Name: agentname.Codex, State: app.Failed,
		Problems: []string{"/home/dev/.codex/sessions: unreadable: permission denied (give your user read permission on it)"}})
	w.searchFor("flaky", "")
	w.until("the banner", func() bool { return w.ui.search.problem.Content.Visible() })
	shows(t, w.ui.search.content, "Not everything could be searched", "Codex: /home/dev/.codex", "give your user read permission")
	core.err = errors.New("no answer in 5 s")
	w.ui.search.list.Select(1)
	w.until("the failure", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.search.hit.content), " "), "no answer in 5 s")
	})
	w.shoot("search-partly")
	core.hits = nil
	w.searchFor("nothing", "Not everything could be searched")
	shows(t, w.ui.search.content, "Not everything could be searched", "Nothing was found in the rest")
	w.shoot("search-failed")
	core.report.Agents = core.report.Agents[:1]
	w.searchFor("nowhere", "Nothing found")
	shows(t, w.ui.search.content, "Nothing found", "None of 1,200 conversations has “nowhere”")
	w.shoot("search-none")
	w.ui.search.regex.SetChecked(true)
	w.searchFor("(", "Cannot search for this")
	shows(t, w.ui.search.content, "Cannot search for this", "regular expression")
	w.searchFor("", "Search conversations")
}

// A hit that is not in what can be shown says so, and shows the end of the conversation.
func TestSearchPageMessageNotShown(t *testing.T) {
	w, core := openSearch(t)
	core.around = app.Around{Session: core.snapshot.Sessions()[0], At: -1, Messages: []adapters.Message{from(adapters.FromAgent, "z", "the last words", time.Minute)}}
	w.searchFor("flaky", "")
	w.until("all hits", func() bool { return w.ui.search.result.Over })
	w.ui.search.list.Select(3)
	w.until("the conversation", func() bool { return len(w.ui.search.hit.conversation.views) == 1 })
	shows(t, w.ui.search.hit.content, "cannot be shown", "the last words")
}

func usageSnapshot() *app.Snapshot {
	s := many(400)
	models := []string{"claude-sonnet-5-5", "gpt-5.5-codex", "mock/mock-1"}
	for i := range s.Sessions() {
		x := &s.Sessions()[i].Session
		x.LastActivityAt = ago(time.Duration(i) * 100 * time.Minute)
		x.Model = models[i%3]
		x.Tokens = &adapters.Tokens{Input: int64(i%37) * 15321, Output: int64(i%23) * 2113, CacheRead: int64(i%51) * 100411, CacheWrite: int64(i%9) * 5011}
		if i%4 == 0 {
			x.CostUSD = float64(i%11) * 0.37
		}
		switch {
		case i%50 == 0:
			x.Tokens = nil
		case i%50 != 1: // the others' agent doesn't say when
			x.Usage = []adapters.Usage{{At: x.LastActivityAt.Truncate(adapters.UsageStep), Tokens: *x.Tokens, CostUSD: x.CostUSD, Turns: i % 7}}
		}
	}
	return s
}

func openUsage(t *testing.T, answer func() *app.Snapshot) *window {
	t.Helper()
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents()})
	w.ui.history = func(context.Context, time.Time) *app.Snapshot { return answer() }
	w.ui.open(pageUsage)
	return w
}

func TestUsagePage(t *testing.T) {
	hold := make(chan struct{})
	snap := usageSnapshot()
	w := openUsage(t, func() *app.Snapshot { <-hold; return snap })
	shows(t, w.ui.usage.Content, "Summing up…")
	w.shoot("usage-loading")
	close(hold)
	w.usageSays("Read from cache")
	shows(t, w.ui.usage.Content, "400 sessions", "8 without recorded tokens", "2026-11-21", "turns", "Cost, 90 of 400", "4.42 M", "250 M", "–", "8 counted on their last day")
	w.shoot("usage-day")
	chart := uitest.Part[*widgets.Chart](t, w.ui.usage.Content, nil)
	chart.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(2, 60)}})
	if tip := chart.Tip(); !strings.Contains(tip, "tokens · input ") || !strings.Contains(tip, "cache read") {
		t.Errorf("the tip of the first bar is %q", tip)
	}
	w.shoot("usage-tip")
	w.win.Resize(fyne.NewSize(700, 500))
	w.win.Canvas().Capture()
	w.shoot("usage-low")
	shows(t, w.ui.usage.Content, "Sessions", "Turns", "Input", "Output", "Reasoning", "Cost")
	if hidden := shownTexts(w.ui.usage.Content); slices.Contains(hidden, "Cache read") {
		t.Errorf("at 700×500 the table has the columns %q", hidden)
	}
	if rows := uitest.Part[*widgets.List](t, w.ui.usage.Content, nil).Size().Height / 30; rows < 4.5 {
		t.Errorf("%.1f rows of the table are visible at 700×500", rows)
	}
	w.win.Resize(fyne.NewSize(1040, 680))
	chart.MouseOut()
	if chart.Tip() != "" {
		t.Error("the tip stays without the pointer")
	}
	by := uitest.Select(t, w.ui.usage.Content, "By day")
	for i, want := range []string{"2026-11-21", "/home/dev/projects/project-", "Claude Code", "gpt-5.5-codex", "main", "no group"} {
		by.SetSelectedIndex(i)
		shows(t, w.ui.usage.Content, want)
	}
	by.SetSelectedIndex(3)
	w.shoot("usage-model")
	by.SetSelectedIndex(1)
	w.shoot("usage-project")
	w.win.Resize(fyne.NewSize(720, 480))
	w.shoot("usage-small")
}

func TestUsagePageFailures(t *testing.T) {
	answer := broken(snapshotOf())
	w := openUsage(t, func() *app.Snapshot { return answer })
	w.usageSays("Cannot read the sessions")
	shows(t, w.ui.usage.Content, "Cannot read the sessions of Codex", "give your user read permission")
	w.shoot("usage-failed")
	answer = snapshotOf()
	w.ui.Refresh()
	w.usageSays("No session was active")
	w.shoot("usage-empty")
	answer = broken(usageSnapshot())
	uitest.Select(t, w.ui.usage.Content, "All time").SetSelectedIndex(3)
	w.usageSays("Read from cache")
	shows(t, w.ui.usage.Content, "Codex could not be read completely.")
}

// TestDropDownsOpen: the drop-down lists of Usage and Search open with the mouse, and by keys, and a choice counts.
func TestDropDownsOpen(t *testing.T) {
	w := openUsage(t, usageSnapshot)
	w.usageSays("Read from cache")
	for name, s := range map[string]*widgets.Select{"by": uitest.Select(t, w.ui.usage.Content, "By day"), "since": uitest.Select(t, w.ui.usage.Content, "All time")} {
		test.TapCanvas(w.win.Canvas(), fyne.CurrentApp().Driver().AbsolutePositionForObject(s).AddXY(5, 5))
		if w.win.Canvas().Overlays().Top() == nil {
			t.Fatalf("%s doesn't open with the mouse", name)
		}
		w.win.Canvas().Overlays().Remove(w.win.Canvas().Overlays().Top())
		w.ui.host.Focus(s)
		w.press(s, fyne.KeyReturn)
		if w.win.Canvas().Overlays().Top() == nil {
			t.Fatalf("%s doesn't open with Enter", name)
		}
		w.win.Canvas().Overlays().Remove(w.win.Canvas().Overlays().Top())
	}
	w.ui.open(pageSearch)
	test.TapCanvas(w.win.Canvas(), fyne.CurrentApp().Driver().AbsolutePositionForObject(w.ui.search.since.List).AddXY(5, 5))
	if w.win.Canvas().Overlays().Top() == nil {
		t.Error("the list of Search doesn't open with the mouse")
	}
}

// TestHitWithoutMarks: the line of a hit in a reply has no marks of Markdown; what the user wrote stays as it is.
func TestHitWithoutMarks(t *testing.T) {
	part := textmatch.Part{Before: "## **Fix** the `", Match: "upload", After: "` in **both** clients"}
	for role, want := range map[adapters.Role]string{adapters.FromAgent: "Fix the upload in both clients", adapters.FromUser: "## **Fix** the `upload` in **both** clients"} {
		h := follow.NewHit(&app.SearchHit{Hit: adapters.Hit{Role: role, Part: part}})
		if got := h.Line.Before + h.Line.Match + h.Line.After; got != want {
			t.Errorf("%s: %q, want %q", role, got, want)
		}
	}
}
