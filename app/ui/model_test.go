package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// outline is a view in words: groups, sessions indented by depth, folded lines.
func outline(v *listing.View) string {
	var b strings.Builder
	for _, r := range v.Rows {
		switch r.Kind {
		case listing.HeaderRow:
			fmt.Fprintf(&b, "%s %d+%d\n", r.Group, r.Count, r.Agents)
		case listing.SessionRow:
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", r.Depth+1), r.Session.ID)
		case listing.MoreRow:
			fmt.Fprintf(&b, "%s…%d\n", strings.Repeat(" ", r.Depth+1), r.Count)
		}
	}
	return b.String()
}

func build(s *app.Snapshot, how listing.Selection) *listing.View {
	return listing.New(s, listing.NewIndex(s.Sessions()), listing.SearchTexts(s.Sessions()), how)
}

// tree makes sessions from "id status [parent]".
func tree(lines ...string) *app.Snapshot {
	var all []app.Session
	for _, l := range lines {
		f := append(strings.Fields(l), "")
		all = append(all, session(f[0], adapters.Status(f[1]), func(s *adapters.Session) { s.Parent = f[2] }))
	}
	return snapshotOf(all...)
}

func TestView(t *testing.T) {
	for name, c := range map[string]struct {
		snap *app.Snapshot
		how  listing.Selection
		want string
	}{
		"nothing": {tree(), listing.Selection{}, ""},
		"groups in the order of urgency, sessions in that of the core": {
			tree("s stopped", "w1 working", "n waiting", "u unknown", "i idle", "w2 working", "x sleeping"), listing.Selection{},
			"Needs you 1+0\n n\nWorking 2+0\n w1\n w2\nIdle 1+0\n i\nUnknown 2+0\n u\n x\nStopped 1+0\n s\n"},
		"a sub-agent that needs the user brings its family up": {
			tree("p working", "c waiting p", "other working"), listing.Selection{},
			"Needs you 1+1\n p\n  c\nWorking 1+0\n other\n"},
		"a sub-agent that outlives its parent": {
			tree("p stopped", "c working p"), listing.Selection{}, "Working 1+1\n p\n  c\n"},
		"finished sub-agents are folded": {
			tree("p working", "a stopped p", "b working p", "c stopped p"), listing.Selection{},
			"Working 1+3\n p\n  b\n  …2\n"},
		"and unfolded": {
			tree("p working", "a stopped p", "b stopped a"), listing.Selection{Open: map[listing.Key]bool{{Agent: agentname.ClaudeCode, ID: "p"}: true}},
			"Working 1+2\n p\n  …1\n  a\n   …1\n"},
		"sub-agent without a listed parent": {
			tree("c working gone"), listing.Selection{}, "Working 1+0\n c\n"},
		"circles": {
			tree("a working b", "b working a", "self working self"), listing.Selection{},
			"Working 2+1\n b\n  a\n self\n"},
		"one id listed twice": {
			tree("same working", "same idle"), listing.Selection{}, "Working 1+0\n same\nIdle 1+0\n same\n"},
		"filter by words, all of them": {
			tree("abc-1 working", "abc-2 idle", "def-1 working"), listing.Selection{Filter: "ABC work"}, "Working 1+0\n abc-1\n"},
		"filter finds a folded sub-agent and keeps its parent": {
			tree("p working", "needle stopped p", "q working"), listing.Selection{Filter: "needle"}, "Working 1+1\n p\n  needle\n"},
		"filter finds nothing": {tree("a working"), listing.Selection{Filter: "zzz"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := build(c.snap, c.how)
			if d := cmp.Diff(c.want, outline(v)); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
			for k, i := range v.At {
				if r := v.Rows[i]; r.Kind != listing.SessionRow || r.Key != k {
					t.Errorf("at[%v] = %d, the index of %+v", k, i, r)
				}
			}
		})
	}
}

func TestNoSessionIsEverMissing(t *testing.T) {
	s := many(1000)
	v := build(s, listing.Selection{})
	listed := len(v.At)
	for _, r := range v.Rows {
		if r.Kind == listing.MoreRow {
			listed += r.Count
		}
	}
	if listed != len(s.Sessions()) {
		t.Errorf("%d sessions are listed or folded, of %d", listed, len(s.Sessions()))
	}
}

func TestStoppedOfTheLastDays(t *testing.T) {
	old := func(id string, st adapters.Status, age time.Duration) app.Session {
		return session(id, st, func(s *adapters.Session) {
			s.LastActivityAt = ago(age)
			if age == 0 {
				s.LastActivityAt = time.Time{}
			}
		})
	}
	s := snapshotOf(old("live-and-old", adapters.Idle, 20*24*time.Hour), old("recent", adapters.Stopped, 6*24*time.Hour),
		old("old", adapters.Stopped, 8*24*time.Hour), old("seen-live", adapters.Stopped, 9*24*time.Hour), old("no-time", adapters.Stopped, 0))
	how := listing.Selection{Since: clock.AddDate(0, 0, -7), Seen: map[listing.Key]bool{{Agent: agentname.ClaudeCode, ID: "seen-live"}: true}}
	want := "Idle 1+0\n live-and-old\nStopped 3+0\n recent\n seen-live\n no-time\n"
	if d := cmp.Diff(want, outline(build(s, how))); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

func TestFilterLooksEverywhere(t *testing.T) {
	s := snapshotOf(session("the-id", adapters.Waiting, func(s *adapters.Session) {
		s.Agent = agentname.Codex
		s.CWD = "/home/dev/THEproject"
		s.Title = "the title Ünïcode"
		s.Branch = "the-branch"
		s.FirstPrompt = "the first prompt"
		s.LastPrompt = "the last prompt"
		s.WaitingFor = adapters.ForPermission
	}))
	for _, text := range []string{"theproject", "Codex", "title", "ünïCODE", "first prompt", "last", "the-branch", "the-id",
		"waiting", "needs permission", "Needs you", "  the   last  "} {
		if v := build(s, listing.Selection{Filter: text}); v.Matching != 1 {
			t.Errorf("%q doesn't find the session", text)
		}
	}
	for _, text := range []string{"stopped", "the-id zzz"} {
		if v := build(s, listing.Selection{Filter: text}); v.Matching != 0 {
			t.Errorf("%q finds the session", text)
		}
	}
}

func TestFilterFindsSuspendedAndOpen(t *testing.T) {
	paused := func(s *adapters.Session) { s.Suspended, s.Outcome = true, "" }
	snap := snapshotOf(session("asks", adapters.Waiting, paused), session("paused", adapters.Idle, paused), session("plain", adapters.Idle, nil),
		app.Session{Session: adapters.ProcessSession(agentname.Codex, proc.Process{}, "/w")})
	for text, want := range map[string]int{"suspended": 2, "no session yet": 1, "idle": 3} {
		if v := build(snap, listing.Selection{Filter: text}); v.Matching != want {
			t.Errorf("%q finds %d sessions, want %d", text, v.Matching, want)
		}
	}
}

func TestHead(t *testing.T) {
	if got := present.Begin("äöü", 3); got != "ä" {
		t.Errorf("head splits a character: %q", got)
	}
	if got := present.Tail("äöü", 3); got != "ü" {
		t.Errorf("tail splits a character: %q", got)
	}
	if got := present.Begin("\x80\x80\x80\x80", 2); got != "" {
		t.Errorf("head of garbage = %q", got)
	}
}

func BenchmarkView5000(b *testing.B) {
	s := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		listing.New(s, listing.NewIndex(s.Sessions()), nil, listing.Selection{})
	}
}

func BenchmarkFilter5000(b *testing.B) {
	s := many(5000)
	x, hay := listing.NewIndex(s.Sessions()), listing.SearchTexts(s.Sessions())
	b.ReportAllocs()
	for b.Loop() {
		listing.New(s, x, hay, listing.Selection{Filter: "number 12"})
	}
}

func BenchmarkHaystacks5000(b *testing.B) {
	s := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		listing.SearchTexts(s.Sessions())
	}
}

// TestByProject: sessions are grouped by repository; the project with the most urgent session comes first, and within it that session. The sessions of a
// worktree are below a row that folds them, and that is unfolded while one of them is live or waits.
func TestByProject(t *testing.T) {
	at := func(id string, status adapters.Status, cwd string) app.Session {
		return session(id, status, func(s *adapters.Session) { s.CWD, s.Title = cwd, id })
	}
	snap := snapshotOf(at("w", adapters.Waiting, "/src/shop-try"), at("b", adapters.Working, "/src/api"), at("i", adapters.Idle, "/src/shop"), at("n", adapters.Idle, "/src/notes"),
		at("old", adapters.Stopped, "/src/shop-old"))
	projects := map[string]listing.Project{"/src/shop-try": {Repository: "/src/shop", Checkout: "/src/shop-try"}, "/src/shop-old": {Repository: "/src/shop", Checkout: "/src/shop-old"}, "/src/shop": {Repository: "/src/shop", Checkout: "/src/shop"}, "/src/api": {Repository: "/src/api", Checkout: "/src/api"}}
	x := listing.NewIndex(snap.Sessions())
	v := listing.New(snap, x, nil, listing.Selection{Projects: projects})
	try, old := "worktree shop-try · 1 session", "worktree shop-old · 1 session"
	if got, want := titles(v), []string{"# shop", "i", "+ " + try, "  w", "+ " + old, "# api", "b", "# notes", "n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	v = listing.New(snap, x, nil, listing.Selection{Projects: projects, Open: map[listing.Key]bool{{ID: "/src/shop-try"}: false, {ID: "/src/shop-old"}: true}})
	if got, want := titles(v), []string{"# shop", "i", "+ " + try, "  w", "+ " + old, "  old", "# api", "b", "# notes", "n"}; !slices.Equal(got, want) {
		t.Errorf("folded by the user: got %q, want %q", got, want)
	}
	if v.Counts[listing.GroupOf(adapters.Idle)] != 2 {
		t.Errorf("counts %v", v.Counts)
	}
}

// titles returns the rows of a view: the titles of headers and folds, and the ids of sessions.
func titles(v *listing.View) (out []string) {
	for _, r := range v.Rows {
		switch r.Kind {
		case listing.HeaderRow:
			title := r.Title
			if title == "" {
				title = r.Group.String()
			}
			out = append(out, "# "+title)
		case listing.MoreRow:
			out = append(out, "+ "+r.Title)
		default:
			out = append(out, strings.Repeat("  ", r.Depth)+r.Key.ID)
		}
	}
	return out
}

// TestPinnedAndPutAway: what the user pinned comes first in its group; what is archived or hidden is folded, but never what waits, and the filter finds it.
func TestPinnedAndPutAway(t *testing.T) {
	mark := func(s app.Session, change func(*app.Session)) app.Session { change(&s); return s }
	hidden := func(s *app.Session) { s.Hidden = true }
	snap := snapshotOf(mark(session("asks", adapters.Waiting, nil), hidden), session("new", adapters.Idle, nil), mark(session("away", adapters.Idle, nil), hidden),
		mark(session("first", adapters.Idle, func(s *adapters.Session) { s.LastActivityAt = ago(time.Hour) }), func(s *app.Session) { s.Pinned = true }),
		session("put", adapters.Stopped, func(s *adapters.Session) { s.Archived = true }))
	x, texts := listing.NewIndex(snap.Sessions()), listing.SearchTexts(snap.Sessions())
	for name, c := range map[string]struct {
		s    listing.Selection
		want []string
	}{
		"folded":   {listing.Selection{}, []string{"# Needs you", "asks", "# Idle", "first", "new", "+ Hidden (1)", "# Stopped", "+ 1 archived or hidden"}},
		"unfolded": {listing.Selection{Open: map[listing.Key]bool{{ID: "put away Idle"}: true}}, []string{"# Needs you", "asks", "# Idle", "first", "new", "+ Hidden (1)", "  away", "# Stopped", "+ 1 archived or hidden"}},
		"revealed": {listing.Selection{Open: map[listing.Key]bool{listing.PutAway: true}, Scope: listing.ScopeOf(listing.Stopped)}, []string{"# Stopped", "+ 1 archived or hidden", "  put"}},
		"filtered": {listing.Selection{Filter: "away"}, []string{"# Idle", "away"}},
	} {
		if got := titles(listing.New(snap, x, texts, c.s)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
