package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/uitest"
)

func TestFullWindow(t *testing.T) {
	w := open(t, full())
	want := []string{
		"# Needs you | 2",
		"rollcall · fix/flaky-parser | needs permission", "infra | asks you",
		"# Working | 2 and 3 sub-agents",
		"website · main | working", "  Explore the cart component | working", "  2 finished sub-agents",
		"compiler-experiments | working",
		"# Idle | 3", "notes | idle", "billing | idle", "api | idle, failed",
		"# Unknown | 1", "app | unknown",
		"# Stopped | 3", "rollcall | turn complete", "api | died in mid-turn", "website | stopped by you",
	}
	if d := cmp.Diff(want, w.rows()); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	// The most urgent one is open, with its evidence.
	w.ui.sessions.detail.showFacts(true)
	shows(t, w.ui.Content(), "Fix the flaky parser test",
		"needs permission · active 2 m ago · Claude Code · rollcall",
		"registry 18068.json: waiting, permission prompt, 2 m ago", "1,204,551 tokens", "Last seen at "+ago(time.Minute).Local().Format("15:04:05")+": no answer in 5 s")
}

func TestStates(t *testing.T) {
	ask := func(s app.AdapterState, problem string) *app.Snapshot {
		return &app.Snapshot{At: clock, Generation: 1, Adapters: []app.Health{{Name: agentname.Codex, State: s, Problems: []string{problem}}}}
	}
	for name, c := range map[string]struct {
		snap  *app.Snapshot
		texts []string
	}{
		"before the first question": {&app.Snapshot{}, []string{"Looking for sessions…"}},
		"loading":                   {ask(app.Pending, ""), []string{"Looking for sessions…"}},
		"empty":                     {ask(app.OK, ""), []string{"No sessions", "Rollcall looked for sessions of Codex", "New agent", "Refresh"}},
		"nothing installed":         {ask(app.Absent, ""), []string{"No coding agents found", "how to install"}},
		"failed":                    {ask(app.Failed, "/x: unreadable: \x1b[31mdenied"), []string{"Cannot read the sessions of Codex", "Codex: /x: unreadable: denied", "Details"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, c.snap)
			shows(t, w.ui.Content(), c.texts...)
			w.publish(full())
			shows(t, w.ui.Content(), "needs permission")
		})
	}
}

// TestReadingIsShown: a question that takes long says how far it is, in the message and above the list, until it is over.
func TestReadingIsShown(t *testing.T) {
	reading := func(s *app.Snapshot, states ...app.AdapterState) *app.Snapshot {
		s.Refreshing, s.Adapters = slices.Contains(states, app.Pending), nil
		for i, state := range states {
			s.Adapters = append(s.Adapters, app.Health{Name: []adapters.Name{agentname.Codex, agentname.Pi}[i], State: state, Asking: state == app.Pending,
				Sessions: map[app.AdapterState]int{app.OK: 12}[state]})
		}
		return s
	}
	w := open(t, reading(&app.Snapshot{}, app.Pending, app.Pending))
	p := w.ui.sessions
	w.until("the message", func() bool { return p.reading != "" })
	shows(t, w.ui.Content(), "Looking for sessions…", "Reading Codex, Pi…")
	busy := w.activity()
	w.publish(reading(&app.Snapshot{}, app.OK, app.Pending))
	shows(t, w.ui.Content(), "Reading Pi… 12 sessions so far")
	if w.activity() != busy {
		t.Error("the activity indicator was replaced")
	}
	w.publish(reading(full(), app.OK, app.Pending))
	shows(t, w.ui.Content(), "Reading Pi… 12 sessions so far")
	w.filter("flaky")
	shows(t, w.ui.Content(), "1 of 14 sessions match; reading Pi… 12 sessions so far")
	w.filter("")
	w.publish(reading(full(), app.OK, app.OK))
	if p.reading != "" || !p.matches.Hidden {
		t.Errorf("still shown: %q", p.reading)
	}
	w.publish(reading(full(), app.OK, app.Pending))
	if p.reading != "" {
		t.Errorf("shown at once: %q", p.reading)
	}
}

// activity returns the sign that the window shows while it waits; nil: there is none.
func (w *window) activity() *widget.Activity {
	for _, o := range visible(w.ui.content) {
		if a, ok := o.(*widget.Activity); ok {
			return a
		}
	}
	return nil
}

func TestLoadingSignStops(t *testing.T) {
	w := open(t, &app.Snapshot{})
	busy := w.activity()
	if busy == nil {
		t.Fatal("nothing moves while the page says that it loads")
	}
	w.publish(full())
	if w.activity() == busy {
		t.Error("the sign still moves, and costs, behind the list")
	}
}

func TestSelectionStaysWithItsSession(t *testing.T) {
	w := open(t, tree("a working", "b working", "c idle"))
	p := w.ui.sessions
	p.tapped(p.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "b"}])
	w.publish(tree("new waiting", "a working", "c idle", "b stopped"))
	if p.selected.ID != "b" || p.detail.session == nil || p.detail.session.Status != adapters.Stopped {
		t.Errorf("selected %v, details of %+v", p.selected, p.detail.session)
	}
	w.publish(tree("a working"))
	shows(t, w.ui.Content(), "No longer listed", "“b”")
	w.publish(tree("a working", "b idle"))
	if p.detail.session == nil || p.detail.session.Status != adapters.Idle {
		t.Error("the session is back, and its details are not")
	}
}

func TestFirstSelectionWaitsForACompleteSnapshot(t *testing.T) {
	partly := tree("a working")
	partly.Refreshing = true
	w := open(t, partly)
	p := w.ui.sessions
	if p.selected.ID != "a" {
		t.Errorf("selected %v, want the only one", p.selected)
	}
	w.publish(tree("urgent waiting", "a working"))
	if p.selected.ID != "urgent" {
		t.Errorf("selected %v, want the most urgent of the complete snapshot", p.selected)
	}
	w.publish(tree("other waiting", "a working", "urgent working"))
	if p.selected.ID != "urgent" {
		t.Errorf("selected %v: what the user may be reading must stay", p.selected)
	}
}

func TestKeysInTheList(t *testing.T) {
	w := open(t, full())
	l := w.ui.sessions.list
	w.win.Canvas().Focus(l)
	var path []string
	for _, k := range []fyne.KeyName{fyne.KeyDown, fyne.KeyDown, fyne.KeyDown, fyne.KeyDown, fyne.KeyUp, fyne.KeyHome, fyne.KeyUp, fyne.KeyEnd, fyne.KeyDown, fyne.KeyPageUp, fyne.KeyPageUp, fyne.KeyPageDown} {
		w.press(l, k)
		p := w.ui.sessions
		at := p.selected.ID
		if p.onMore {
			at += "…"
		}
		path = append(path, at)
	}
	first := "e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33"
	want := []string{"019a-codex-1", "w1", "w1-a", "w1…", "w1-a", first, first, "s3", "s3"}
	if d := cmp.Diff(want, path[:len(want)]); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
	if path[9] == "s3" || path[10] != first || path[11] == first {
		t.Errorf("Page keys went to %v", path[9:])
	}
}

func TestFolding(t *testing.T) {
	w := open(t, full())
	p := w.ui.sessions
	w.win.Canvas().Focus(p.list)
	w.press(p.list, fyne.KeyDown, fyne.KeyDown, fyne.KeyRight)
	unfolded := func() bool { _, ok := p.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "w1-b"}]; return ok }
	w.until("the finished sub-agents", unfolded)
	shows(t, w.ui.Content(), "List the pages", "Read the style guide")
	w.press(p.list, fyne.KeyLeft)
	w.until("them to go", func() bool { return !unfolded() })
	p.tapped(p.view.More[listing.Key{Agent: agentname.ClaudeCode, ID: "w1"}])
	w.until("the finished sub-agents", unfolded)
	w.press(p.list, fyne.KeyReturn)
	w.until("them to go", func() bool { return !unfolded() })
}

func TestFilterField(t *testing.T) {
	w := open(t, full())
	p, c := w.ui.sessions, w.win.Canvas()
	p.list.TypedRune('/')
	if c.Focused() != fyne.Focusable(p.filter) {
		t.Fatalf("the slash key focused %T", c.Focused())
	}
	test.Type(p.filter, "codex")
	w.until("the filter", func() bool { return p.view.Filter == "codex" })
	shows(t, w.ui.Content(), "4 of 14 sessions match")
	matches := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.matches)
	if top := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.list); top.Y < matches.Y+p.matches.Size().Height {
		t.Errorf("the list at %v overlaps the count at %v", top, matches)
	}
	w.press(p.filter, fyne.KeyDown)
	if c.Focused() != fyne.Focusable(p.list) {
		t.Fatalf("Down focused %T", c.Focused())
	}
	p.list.TypedRune('x')
	w.until("the typed character", func() bool { return p.view.Filter == "codexx" })
	shows(t, w.ui.Content(), "Nothing matches “codexx”", "Clear filter")
	w.press(p.filter, fyne.KeyEscape)
	w.until("the filter to be cleared", func() bool { return p.view.Filter == "" })
	if len(p.view.Rows) != 18 {
		t.Errorf("%d rows after Escape", len(p.view.Rows))
	}
}

func TestRefreshKeys(t *testing.T) {
	w := open(t, full())
	count := func() int {
		w.core.mu.Lock()
		defer w.core.mu.Unlock()
		return w.core.refreshes
	}
	f5 := []fyne.Focusable{w.ui.sessions.filter, w.ui.sessions.list, w.ui.nav.launch, w.ui.nav.search, w.ui.sessions.detail.more}
	for i, o := range f5 {
		w.press(o, fyne.KeyF5)
		eventually.True(t, "F5", func() bool { return count() >= i+1 })
		if count() != i+1 {
			t.Errorf("F5 in %T asked %d times", o, count()-i)
		}
	}
}

func TestShow(t *testing.T) {
	t.Run("listed", func(t *testing.T) {
		w := open(t, full())
		w.ui.open(pageLaunch)
		w.ui.Show("s2")
		if w.ui.page != pageSessions || w.ui.sessions.detail.key.ID != "s2" {
			t.Errorf("page %d shows %v", w.ui.page, w.ui.sessions.detail.key)
		}
	})
	t.Run("start of an id", func(t *testing.T) {
		w := open(t, full())
		w.ui.sessions.detail.showFacts(true)
		w.ui.Show("e17d")
		shows(t, w.ui.Content(), "e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33")
	})
	t.Run("before it is listed", func(t *testing.T) {
		w := open(t, &app.Snapshot{Refreshing: true, Generation: 1, Adapters: []app.Health{{State: app.Pending}}})
		w.ui.Show("b")
		w.publish(tree("a waiting", "b idle"))
		if got := w.ui.sessions.detail.key.ID; got != "b" {
			t.Errorf("shows %q", got)
		}
	})
	t.Run("not listed", func(t *testing.T) {
		w := open(t, full())
		w.ui.sessions.detail.showFacts(true)
		w.ui.Show("nobody")
		shows(t, w.ui.Content(), "Session not found", "“nobody”")
		w.publish(tree("a waiting", "nobody idle"))
		shows(t, w.ui.Content(), "idle: running, its turn is over")
	})
	t.Run("folded away and filtered out", func(t *testing.T) {
		w := open(t, full())
		w.ui.sessions.detail.showFacts(true)
		w.filter("codex")
		w.ui.Show("w1-c")
		at := func() bool {
			_, ok := w.ui.sessions.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "w1-c"}]
			return ok
		}
		w.until("its row", at)
		shows(t, w.ui.Content(), "Read the style guide", "Spawned by")
	})
	t.Run("older than the list", func(t *testing.T) {
		s := tree("a idle", "old stopped")
		s.Sessions()[1].LastActivityAt = ago(30 * 24 * time.Hour)
		w := open(t, s)
		w.ui.Show("old")
		w.until("its row", func() bool {
			_, ok := w.ui.sessions.view.At[listing.Key{Agent: agentname.ClaudeCode, ID: "old"}]
			return ok
		})
	})
	t.Run("launch page", func(t *testing.T) {
		w := open(t, full())
		w.ui.ShowLaunch()
		shows(t, w.ui.Content(), "Working folder")
	})
}

func TestCopying(t *testing.T) {
	w := open(t, full())
	d := w.ui.sessions.detail
	for i, want := range []string{"e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33", "/home/dev/projects/rollcall"} {
		item := d.copyItems(d.session)[i]
		item.Action()
		if got := fyne.CurrentApp().Clipboard().Content(); got != want {
			t.Errorf("%s copied %q, want %q", item.Label, got, want)
		}
		if d.more.Text != "Copied" {
			t.Errorf("after %s the button doesn't say so", item.Label)
		}
		w.until("the button's own text", func() bool { return d.more.Text == "" })
	}
	w.press(d.more, fyne.KeyReturn)
	if w.win.Canvas().Overlays().Top() == nil {
		t.Error("the button opens no menu")
	}
	w.publish(snapshotOf(session("x", adapters.Idle, func(s *adapters.Session) { s.Agent, s.CWD = agentname.OpenClaw, "" })))
	w.ui.Show("x")
	if items := d.copyItems(d.session); items[0].Disabled || !items[1].Disabled || !items[2].Disabled {
		t.Error("the menu offers what isn't known")
	}
}

// TestFieldTextCanBeSelectedAndIsNoTabStop: a text can be selected with the mouse and copied, one text at a time, and the Tab key goes past it.
func TestFieldTextCanBeSelectedAndIsNoTabStop(t *testing.T) {
	w := open(t, full())
	w.ui.sessions.detail.showFacts(true)
	w.win.Canvas().Capture()
	facts := w.ui.sessions.detail.facts.Content
	id, other := uitest.After[*widgets.SelectText](t, facts, "Session id"), uitest.After[*widgets.SelectText](t, facts, "Model")
	mark := func() int { return len(visible(id)) }
	none := mark()
	id.MouseDown(mouseAt(0))
	id.Dragged(&fyne.DragEvent{PointEvent: mouseAt(1000).PointEvent, Dragged: fyne.NewDelta(1000, 0)})
	id.DragEnd()
	id.MouseUp(mouseAt(1000))
	if mark() == none {
		t.Error("what is selected is not marked")
	}
	widgets.CopySelected()
	if got := fyne.CurrentApp().Clipboard().Content(); got != id.Text {
		t.Errorf("copied %q, want %q", got, id.Text)
	}
	other.MouseDown(mouseAt(0))
	if mark() != none {
		t.Error("what was selected is marked after a click on another text")
	}
	other.DoubleTapped(&fyne.PointEvent{Position: fyne.NewPos(12, 12)})
	widgets.CopySelected()
	if got := fyne.CurrentApp().Clipboard().Content(); got != "claude" {
		t.Errorf("a double click copied %q", got)
	}
	c := w.win.Canvas()
	c.Focus(nil)
	var order []string
	for range 15 {
		c.FocusNext()
		order = append(order, fmt.Sprintf("%T", c.Focused()))
	}
	want := "*widgets.Tab *widgets.Tab *widgets.Tab *widgets.Tab *widgets.Tab *widgets.Tab *widgets.Tab *widgets.Button *widgets.Tab *widgets.Entry *widgets.Button *ui.sessionList *widgets.Button *widgets.Button *widgets.Tab"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("the Tab key goes\n%s, want\n%s", got, want)
	}
}

func TestDetailsChangeInPlace(t *testing.T) {
	w := open(t, full())
	d := w.ui.sessions.detail
	d.showFacts(true)
	before := uitest.Part[*widgets.SelectText](t, d.facts.Content, nil)
	s := full()
	s.Sessions()[0].Status, s.Sessions()[0].WaitingFor = adapters.Working, ""
	s.Sessions()[0].Context.Used = 199_000
	w.publish(s)
	if uitest.Part[*widgets.SelectText](t, d.facts.Content, nil) != before {
		t.Error("the fields got new views: what the user had selected is gone")
	}
	shows(t, w.ui.Content(), "working · active ", "199,000 of 200,000 tokens (100 %)")
}

func TestLongPromptUnfolds(t *testing.T) {
	s := snapshotOf(session("x", adapters.Idle, func(s *adapters.Session) { s.FirstPrompt = strings.Repeat("word ", 300) + "END" }))
	w := open(t, s)
	facts := w.ui.sessions.detail.facts.Content
	text := func() string { return uitest.After[*widgets.SelectText](t, facts, "First prompt").Text }
	if strings.Contains(text(), "END") {
		t.Fatal("the whole prompt is shown at once")
	}
	uitest.Part(t, facts, func(l *widgets.Link) bool { return l.Text == "Show all" }).OnTapped()
	if !strings.Contains(text(), "END") {
		t.Error("the rest is not shown")
	}
	w.publish(snapshotOf(s.Sessions()[0]))
	if !strings.Contains(text(), "END") {
		t.Error("a new snapshot folds it again")
	}
}

// TestManySnapshotsAtOnce checks that the window shows the last one of many snapshots, and does
// not queue those that it never shows.
func TestManySnapshotsAtOnce(t *testing.T) {
	w := open(t, full())
	var last *app.Snapshot
	for i := range 300 {
		last = many(20 + i)
		w.core.publish(last)
	}
	time.Sleep(50 * time.Millisecond) // no event shows that no feed queues more
	if n := len(w.Queue); n > 8 {     // one of each feed
		t.Errorf("%d tasks wait for the UI goroutine", n)
	}
	w.until("the last snapshot", func() bool { return w.ui.sessions.view.Snapshot == last })
}

func TestWarning(t *testing.T) {
	w := open(t, full())
	w.ui.Warn("The list is no longer kept up to date. \x1b[31mno space left")
	w.until("the warning", func() bool { return w.ui.sessions.warning != "" })
	shows(t, w.ui.Content(), "The list is no longer kept up to date. no space left")
}

func TestAgesAreKeptUpToDate(t *testing.T) {
	w := open(t, full())
	old := w.ui.host.Now
	w.ui.host.Now = func() time.Time { return old().Add(10 * time.Minute) }
	w.ui.showAges()
	shows(t, w.ui.Content(), "12 m", "active 12 m ago")
}

// benchWindow shows a window over n sessions.
func benchWindow(b *testing.B, n int) (*UI, *app.Snapshot) {
	b.Helper()
	win := fyne.CurrentApp().NewWindow("")
	s := many(n)
	u := newUI(&fakeCore{snapshot: s}, Options{Window: win, Answers: answersOf(Options{})}, func(func()) {}, time.Now)
	b.Cleanup(u.Close)
	win.SetContent(u.Content())
	win.Resize(fyne.NewSize(1040, 680))
	u.apply(build(s, listing.Selection{}))
	return u, s
}

func BenchmarkApply5000(b *testing.B) {
	u, s := benchWindow(b, 5000)
	v := build(s, listing.Selection{})
	b.ReportAllocs()
	for b.Loop() {
		u.apply(v)
	}
}

// frames runs what one frame has the UI goroutine do, without the painting, and reports the slowest one.
func frames(b *testing.B, frame func(i int)) {
	b.Helper()
	b.ReportAllocs()
	var slowest time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		frame(i)
		slowest = max(slowest, time.Since(began))
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
}

// BenchmarkScroll10000 scrolls by a third of the window.
func BenchmarkScroll10000(b *testing.B) {
	u, _ := benchWindow(b, 10_000)
	frames(b, func(i int) { u.sessions.list.ScrollToOffset(float32(i % 1000 * 200)) })
}

// BenchmarkFilterShown10000 shows what another letter of the filter leaves, of all and of few sessions.
func BenchmarkFilterShown10000(b *testing.B) {
	u, s := benchWindow(b, 10_000)
	x, hay := listing.NewIndex(s.Sessions()), listing.SearchTexts(s.Sessions())
	var views []*listing.View
	for _, filter := range []string{"", "n", "number 1", "number 12", "number 1234"} {
		views = append(views, listing.New(s, x, hay, listing.Selection{Filter: filter}))
	}
	frames(b, func(i int) { u.apply(views[i%len(views)]) })
}
