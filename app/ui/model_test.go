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
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// outline is a view in words: groups, sessions indented by depth, folded lines.
func outline(v *view) string {
	var b strings.Builder
	for _, r := range v.rows {
		switch r.kind {
		case headerRow:
			fmt.Fprintf(&b, "%s %d+%d\n", r.group, r.count, r.agents)
		case sessionRow:
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", r.depth+1), r.session.ID)
		case moreRow:
			fmt.Fprintf(&b, "%s…%d\n", strings.Repeat(" ", r.depth+1), r.count)
		}
	}
	return b.String()
}

func build(s *app.Snapshot, how selection) *view {
	return newView(s, newIndex(s.Sessions()), searchTexts(s.Sessions()), how)
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
		how  selection
		want string
	}{
		"nothing": {tree(), selection{}, ""},
		"groups in the order of urgency, sessions in that of the core": {
			tree("s stopped", "w1 working", "n waiting", "u unknown", "i idle", "w2 working", "x sleeping"), selection{},
			"Needs you 1+0\n n\nWorking 2+0\n w1\n w2\nIdle 1+0\n i\nUnknown 2+0\n u\n x\nStopped 1+0\n s\n"},
		"a sub-agent that needs the user brings its family up": {
			tree("p working", "c waiting p", "other working"), selection{},
			"Needs you 1+1\n p\n  c\nWorking 1+0\n other\n"},
		"a sub-agent that outlives its parent": {
			tree("p stopped", "c working p"), selection{}, "Working 1+1\n p\n  c\n"},
		"finished sub-agents are folded": {
			tree("p working", "a stopped p", "b working p", "c stopped p"), selection{},
			"Working 1+3\n p\n  b\n  …2\n"},
		"and unfolded": {
			tree("p working", "a stopped p", "b stopped a"), selection{open: map[key]bool{{agent: agentname.ClaudeCode, id: "p"}: true}},
			"Working 1+2\n p\n  …1\n  a\n   …1\n"},
		"sub-agent without a listed parent": {
			tree("c working gone"), selection{}, "Working 1+0\n c\n"},
		"circles": {
			tree("a working b", "b working a", "self working self"), selection{},
			"Working 2+1\n b\n  a\n self\n"},
		"one id listed twice": {
			tree("same working", "same idle"), selection{}, "Working 1+0\n same\nIdle 1+0\n same\n"},
		"filter by words, all of them": {
			tree("abc-1 working", "abc-2 idle", "def-1 working"), selection{filter: "ABC work"}, "Working 1+0\n abc-1\n"},
		"filter finds a folded sub-agent and keeps its parent": {
			tree("p working", "needle stopped p", "q working"), selection{filter: "needle"}, "Working 1+1\n p\n  needle\n"},
		"filter finds nothing": {tree("a working"), selection{filter: "zzz"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := build(c.snap, c.how)
			if d := cmp.Diff(c.want, outline(v)); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
			for k, i := range v.at {
				if r := v.rows[i]; r.kind != sessionRow || r.key != k {
					t.Errorf("at[%v] = %d, the index of %+v", k, i, r)
				}
			}
		})
	}
}

func TestNoSessionIsEverMissing(t *testing.T) {
	s := many(1000)
	v := build(s, selection{})
	listed := len(v.at)
	for _, r := range v.rows {
		if r.kind == moreRow {
			listed += r.count
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
	how := selection{since: clock.AddDate(0, 0, -7), seen: map[key]bool{{agent: agentname.ClaudeCode, id: "seen-live"}: true}}
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
		if v := build(s, selection{filter: text}); v.matching != 1 {
			t.Errorf("%q doesn't find the session", text)
		}
	}
	for _, text := range []string{"stopped", "the-id zzz"} {
		if v := build(s, selection{filter: text}); v.matching != 0 {
			t.Errorf("%q finds the session", text)
		}
	}
}

func TestFilterFindsSuspendedAndOpen(t *testing.T) {
	paused := func(s *adapters.Session) { s.Suspended, s.Outcome = true, "" }
	snap := snapshotOf(session("asks", adapters.Waiting, paused), session("paused", adapters.Idle, paused), session("plain", adapters.Idle, nil),
		app.Session{Session: adapters.ProcessSession(agentname.Codex, proc.Process{}, "/w")})
	for text, want := range map[string]int{"suspended": 2, "no session yet": 1, "idle": 3} {
		if v := build(snap, selection{filter: text}); v.matching != want {
			t.Errorf("%q finds %d sessions, want %d", text, v.matching, want)
		}
	}
}

func TestHead(t *testing.T) {
	if got := head("äöü", 3); got != "ä" {
		t.Errorf("head splits a character: %q", got)
	}
	if got := tail("äöü", 3); got != "ü" {
		t.Errorf("tail splits a character: %q", got)
	}
	if got := head("\x80\x80\x80\x80", 2); got != "" {
		t.Errorf("head of garbage = %q", got)
	}
}

func BenchmarkView5000(b *testing.B) {
	s := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		newView(s, newIndex(s.Sessions()), nil, selection{})
	}
}

func BenchmarkFilter5000(b *testing.B) {
	s := many(5000)
	x, hay := newIndex(s.Sessions()), searchTexts(s.Sessions())
	b.ReportAllocs()
	for b.Loop() {
		newView(s, x, hay, selection{filter: "number 12"})
	}
}

func BenchmarkHaystacks5000(b *testing.B) {
	s := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		searchTexts(s.Sessions())
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
	projects := map[string]project{"/src/shop-try": {"/src/shop", "/src/shop-try"}, "/src/shop-old": {"/src/shop", "/src/shop-old"}, "/src/shop": {"/src/shop", "/src/shop"}, "/src/api": {"/src/api", "/src/api"}}
	x := newIndex(snap.Sessions())
	v := newView(snap, x, nil, selection{projects: projects})
	try, old := "worktree shop-try · 1 session", "worktree shop-old · 1 session"
	if got, want := titles(v), []string{"# shop", "i", "+ " + try, "  w", "+ " + old, "# api", "b", "# notes", "n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	v = newView(snap, x, nil, selection{projects: projects, open: map[key]bool{{id: "/src/shop-try"}: false, {id: "/src/shop-old"}: true}})
	if got, want := titles(v), []string{"# shop", "i", "+ " + try, "  w", "+ " + old, "  old", "# api", "b", "# notes", "n"}; !slices.Equal(got, want) {
		t.Errorf("folded by the user: got %q, want %q", got, want)
	}
	if v.counts[groupOf(adapters.Idle)] != 2 {
		t.Errorf("counts %v", v.counts)
	}
}

// titles returns the rows of a view: the titles of headers and folds, and the ids of sessions.
func titles(v *view) (out []string) {
	for _, r := range v.rows {
		switch r.kind {
		case headerRow:
			title := r.title
			if title == "" {
				title = r.group.String()
			}
			out = append(out, "# "+title)
		case moreRow:
			out = append(out, "+ "+r.title)
		default:
			out = append(out, strings.Repeat("  ", r.depth)+r.key.id)
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
	x, texts := newIndex(snap.Sessions()), searchTexts(snap.Sessions())
	for name, c := range map[string]struct {
		s    selection
		want []string
	}{
		"folded":   {selection{}, []string{"# Needs you", "asks", "# Idle", "first", "new", "+ Hidden (1)", "# Stopped", "+ 1 archived or hidden"}},
		"unfolded": {selection{open: map[key]bool{{id: "put away Idle"}: true}}, []string{"# Needs you", "asks", "# Idle", "first", "new", "+ Hidden (1)", "  away", "# Stopped", "+ 1 archived or hidden"}},
		"revealed": {selection{open: map[key]bool{putAway: true}, scope: scopeOf(stopped)}, []string{"# Stopped", "+ 1 archived or hidden", "  put"}},
		"filtered": {selection{filter: "away"}, []string{"# Idle", "away"}},
	} {
		if got := titles(newView(snap, x, texts, c.s)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
