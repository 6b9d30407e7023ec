package ui

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/listing"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

// clock is the time in every test.
var clock = uitest.Clock

// The names that the tests of this package use most.
var (
	shownTexts, visible = uitest.Texts, uitest.Visible
	tap, check          = uitest.Tap, uitest.Check
	shows, typeInto     = uitest.Shows, uitest.TypeInto
)

func (w *window) until(what string, cond func() bool) {
	w.t.Helper()
	w.Until(what, cond)
}

func (w *window) press(o fyne.Focusable, keys ...fyne.KeyName) { uitest.Press(o, keys...) }

func (w *window) shoot(name string) { w.Shoot(name) }

func ago(d time.Duration) time.Time { return clock.Add(-d) }

// fakeCore is a core whose snapshots the test makes.
type fakeCore struct {
	nothingElse
	fakeTalk
	mu        sync.Mutex
	snapshot  *app.Snapshot
	subs      map[int]func(*app.Snapshot)
	refreshes int
	next      int
}

// nothingElse has the methods of a core that a test does not need. The window may call each of them, also on another goroutine after the
// test has gone on, so none may be missing.
type nothingElse struct{}

// errNotNeeded is the answer of a core that a test does not need.
var errNotNeeded = errors.New("the test's core does not do that")

func (nothingElse) Search(context.Context, app.SearchQuery, func(app.SearchHit) bool, func(app.SearchReport)) (app.SearchReport, error) {
	return app.SearchReport{}, nil
}

func (nothingElse) Around(context.Context, adapters.Name, string, string) (app.Around, error) {
	return app.Around{}, errNotNeeded
}

func (nothingElse) PlanStop(context.Context, app.Session) (*app.StopPlan, error) {
	return nil, errNotNeeded
}

func (nothingElse) PlanStopIdle(context.Context, app.Session) (*app.StopPlan, error) {
	return nil, errNotNeeded
}

func (nothingElse) PlanStopAllIdle(context.Context, *app.Snapshot, func(*app.Session, error)) []*app.StopPlan {
	return nil
}

func (nothingElse) Stop(context.Context, *app.StopPlan, func(app.StopStep)) (app.StopResult, error) {
	return app.StopResult{}, errNotNeeded
}

func (nothingElse) CountsLeftBehind(context.Context) (app.LeftCounts, []adapters.Name, error) {
	return nil, nil, nil
}

func (nothingElse) LeftBehind(context.Context) ([]app.LeftBehind, []adapters.Name, error) {
	return nil, nil, nil
}

func (nothingElse) Uses(...proc.Process) (memory uint64, ports []uint16) { return 0, nil }

func (nothingElse) EndLeftBehind(context.Context, *app.LeftBehind) ([]proc.Process, error) {
	return nil, errNotNeeded
}

// noAnswers knows no agent, and answers nothing.
type noAnswers struct{}

func (noAnswers) Adapter(adapters.Name) adapters.Adapter { return nil }

func (noAnswers) Current(context.Context, adapters.Name, string) (app.Session, error) {
	return app.Session{}, app.ErrNoSession
}

func (noAnswers) RequestAgentRefresh(adapters.Name) {}

// answersOf returns the answers of a window, which knows no agent if a test needs none.
func answersOf(o Options) *answer.Answers {
	if o.Answers != nil {
		return o.Answers
	}
	return answer.New(noAnswers{}, func() settings.Answering { return settings.AnswerAll })
}

func (c *fakeCore) Snapshot() *app.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.snapshot
}

func (c *fakeCore) Refresh(context.Context) *app.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refreshes++
	return c.snapshot
}

func (c *fakeCore) Subscribe(f func(*app.Snapshot)) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subs == nil {
		c.subs = make(map[int]func(*app.Snapshot))
	}
	id := c.next
	c.next++
	c.subs[id] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subs, id)
	}
}

func (c *fakeCore) publish(s *app.Snapshot) {
	c.mu.Lock()
	c.snapshot = s
	subs := make([]func(*app.Snapshot), 0, len(c.subs))
	for _, f := range c.subs {
		subs = append(subs, f)
	}
	c.mu.Unlock()
	for _, f := range subs {
		f(s)
	}
}

// fakeSystem is a machine on which everything exists.
type fakeSystem struct {
	missing map[string]bool // places that don't exist
	opened  [][]string      // the folder and the command of each terminal
	fails   error
	mu      sync.Mutex
}

func (s *fakeSystem) placeNote(path string) string {
	if s.missing[path] {
		return "does not exist"
	}
	return ""
}

func (s *fakeSystem) openTerminal(folder string, program []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return "", s.fails
	}
	s.opened = append(s.opened, append([]string{folder}, program...))
	return "xfce4-terminal", nil
}

// terminals returns the folder and the command of each terminal that was opened.
func (s *fakeSystem) terminals() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.opened)
}

// window is a UI in a window that is drawn in memory.
type window struct {
	*uitest.Window
	t      *testing.T
	ui     *UI
	core   *fakeCore
	system *fakeSystem
	win    fyne.Window
}

func open(t *testing.T, snap *app.Snapshot) *window {
	t.Helper()
	return openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents()})
}

// openWith opens a window over a core, with options that lack the window.
func openWith(t *testing.T, core Core, o Options) *window {
	t.Helper()
	w := &window{Window: uitest.Open(t), t: t, system: &fakeSystem{}}
	w.core, _ = core.(*fakeCore)
	snap := core.Snapshot()
	w.win = w.Window.Window
	o.Window, o.Days, o.Program = w.win, 7, "/opt/rollcall"
	if o.Launches == nil {
		o.Launches = launch.In(t.TempDir(), proc.Open())
	}
	if o.Fuses == nil {
		o.Fuses = fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	}
	o.Answers = answersOf(o)
	w.ui = newUI(core, o, func(f func()) { w.Queue <- f },
		func() time.Time { return clock })
	w.ui.openTerminal, w.ui.placeNote = w.system.openTerminal, w.system.placeNote
	w.win.SetContent(w.ui.Content())
	t.Cleanup(w.ui.Close)
	w.until("the first snapshot", func() bool {
		got := w.ui.sessions.view.Snapshot
		return got == snap || got.Generation > snap.Generation
	})
	return w
}

func (w *window) publish(s *app.Snapshot) {
	w.t.Helper()
	w.core.publish(s)
	w.until("the new snapshot", func() bool { return w.ui.sessions.view.Snapshot == s })
}

func (w *window) filter(text string) {
	w.t.Helper()
	w.ui.sessions.filter.SetText(text)
	w.until("the filter", func() bool { return w.ui.sessions.view.Filter == text })
}

// rows returns the rows of the list in words, indented by their depth.
func (w *window) rows() []string {
	var out []string
	for _, r := range w.ui.sessions.view.Rows {
		x := rowTextOf(&r, clock, 7)
		text := strings.Repeat("  ", r.Depth) + x.first
		if x.status != "" {
			text += " | " + x.status
		}
		if r.Kind == listing.HeaderRow {
			text = "# " + text
		}
		out = append(out, text)
	}
	return out
}

// snapshotOf returns a complete snapshot of these sessions, in which all agents could be read.
func snapshotOf(sessions ...app.Session) *app.Snapshot {
	return &app.Snapshot{At: clock, Generation: 7, Own: sessions, Adapters: []app.Health{
		{Name: agentname.ClaudeCode, State: app.OK, Elapsed: 3 * time.Millisecond, Answered: ago(4 * time.Second), Sessions: 9,
			LookedIn: []string{"/home/dev/.claude/sessions", "/home/dev/.claude/projects"},
			Versions: map[string]int{"2.1.329": 7, "2.1.100": 2}},
		{Name: agentname.Codex, State: app.OK, Elapsed: 11 * time.Millisecond, Answered: ago(4 * time.Second), Sessions: 4,
			LookedIn: []string{"/home/dev/.codex/sessions", "/home/dev/.codex/archived_sessions", "/home/dev/.codex/state_5.sqlite"},
			Versions: map[string]int{"0.98.0": 4}},
	}}
}

func session(id string, status adapters.Status, change func(*adapters.Session)) app.Session {
	s := adapters.Session{
		ID: id, Agent: agentname.ClaudeCode,
		State: adapters.State{Status: status, Evidence: "registry 18068.json: " + string(status) + ", 3 s ago"},
		Place: adapters.Place{CWD: "/home/dev/projects/rollcall"},
		Times: adapters.Times{LastActivityAt: ago(3 * time.Second)},
	}
	if change != nil {
		change(&s)
	}
	return app.Session{Session: s}
}

// full returns a snapshot with every status, outcome and kind of row.
func full() *app.Snapshot {
	waiting := session("e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33", adapters.Waiting, func(s *adapters.Session) {
		s.WaitingFor = adapters.ForPermission
		s.Evidence = "registry 18068.json: waiting, permission prompt, 2 m ago"
		s.Process = proc.Identity{PID: 18068, Start: 4711}
		s.Branch = "fix/flaky-parser"
		s.Model = "claude-sonnet-5-5"
		s.Version = "2.1.329"
		s.Title = "Fix the flaky parser test"
		s.FirstPrompt = "The parser test fails about once in twenty runs on CI. Find out why and fix the cause, not the symptom."
		s.LastPrompt = "yes, and run the whole suite with -race afterwards"
		s.Tokens = &adapters.Tokens{Input: 18432, Output: 9210, CacheRead: 1204551, CacheWrite: 88231}
		s.Context = adapters.Context{Used: 151200, Window: 200000}
		s.CostUSD = 1.8423
		s.StartedAt, s.LastActivityAt = ago(52*time.Minute), ago(2*time.Minute)
		s.Files = []string{"/home/dev/.claude/projects/-home-dev-projects-rollcall/e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33.jsonl",
			"/home/dev/.claude/sessions/18068.json"}
	})
	with := func(id string, st adapters.Status, agent adapters.Name, cwd, title string, age time.Duration, change func(*adapters.Session)) app.Session {
		return session(id, st, func(s *adapters.Session) {
			s.Agent = agent
			s.CWD = cwd
			s.Title = title
			s.LastActivityAt = ago(age)
			if change != nil {
				change(s)
			}
		})
	}
	sub := func(id, parent string, st adapters.Status, o adapters.Outcome, title string) app.Session {
		return with(id, st, agentname.ClaudeCode, "/home/dev/projects/website", title, time.Minute, func(s *adapters.Session) {
			s.Parent, s.Outcome = parent, o
		})
	}
	stale := with("019a-codex-3", adapters.Idle, agentname.Codex, "/home/dev/projects/billing", "Currency rounding", 22*time.Minute, nil)
	stale.Stale = &app.Stale{Since: ago(time.Minute), Reason: "codex: no answer in 5 s"}
	question := func(s *adapters.Session) { s.WaitingFor = adapters.ForQuestion }
	outcome := func(o adapters.Outcome) func(*adapters.Session) {
		return func(s *adapters.Session) { s.Outcome = o }
	}
	return snapshotOf(
		waiting,
		with("019a-codex-1", adapters.Waiting, agentname.Codex, "/home/dev/projects/infra", "Which region shall the bucket be in?", time.Minute, question),
		with("w1", adapters.Working, agentname.ClaudeCode, "/home/dev/projects/website", "Redesign the checkout page", 2*time.Second, func(s *adapters.Session) { s.Branch = "main" }),
		sub("w1-a", "w1", adapters.Working, "", "Explore the cart component"),
		sub("w1-b", "w1", adapters.Stopped, adapters.Completed, "List the pages"),
		sub("w1-c", "w1", adapters.Stopped, adapters.Completed, "Read the style guide"),
		with("019a-codex-2", adapters.Working, agentname.Codex, "/home/dev/projects/compiler-experiments", "Port the register allocator to SSA form and measure", 14*time.Second, nil),
		with("i1", adapters.Idle, agentname.ClaudeCode, "/home/dev/notes", "Summarise the meeting notes", 7*time.Minute, outcome(adapters.Completed)),
		stale,
		with("i2", adapters.Idle, agentname.ClaudeCode, "/home/dev/projects/api", "Add rate limits", 41*time.Minute, outcome(adapters.Failed)),
		with("u1", adapters.Unknown, agentname.ClaudeCode, "/workspace/app", "Bump dependencies", 3*time.Hour, func(s *adapters.Session) {
			s.Evidence = "registry 77.json: busy, but of another machine (pidDomain linux:abc)"
		}),
		with("s1", adapters.Stopped, agentname.Codex, "/home/dev/projects/rollcall", "Write the release notes", 5*time.Hour, outcome(adapters.Completed)),
		with("s2", adapters.Stopped, agentname.ClaudeCode, "/home/dev/projects/api", "Migrate to the new router", 26*time.Hour, outcome(adapters.Died)),
		with("s3", adapters.Stopped, agentname.ClaudeCode, "/home/dev/projects/website", "Compress the images", 50*time.Hour, outcome(adapters.Interrupted)),
	)
}
