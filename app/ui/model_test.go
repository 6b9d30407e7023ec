package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
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

func build(s *app.Snapshot, how sieve) *view {
	return newView(s, newIndex(s.Sessions), haystacks(s.Sessions), how)
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
		how  sieve
		want string
	}{
		"nothing": {tree(), sieve{}, ""},
		"groups in the order of urgency, sessions in that of the core": {
			tree("s stopped", "w1 working", "n waiting", "u unknown", "i idle", "w2 working", "x sleeping"), sieve{},
			"Needs you 1+0\n n\nWorking 2+0\n w1\n w2\nIdle 1+0\n i\nUnknown 2+0\n u\n x\nStopped 1+0\n s\n"},
		"a sub-agent that needs the user brings its family up": {
			tree("p working", "c waiting p", "other working"), sieve{},
			"Needs you 1+1\n p\n  c\nWorking 1+0\n other\n"},
		"a sub-agent that outlives its parent": {
			tree("p stopped", "c working p"), sieve{}, "Working 1+1\n p\n  c\n"},
		"finished sub-agents are folded": {
			tree("p working", "a stopped p", "b working p", "c stopped p"), sieve{},
			"Working 1+3\n p\n  b\n  …2\n"},
		"and unfolded": {
			tree("p working", "a stopped p", "b stopped a"), sieve{open: map[key]bool{{agent: adapters.ClaudeCode, id: "p"}: true}},
			"Working 1+2\n p\n  …1\n  a\n   …1\n"},
		"sub-agent without a listed parent": {
			tree("c working gone"), sieve{}, "Working 1+0\n c\n"},
		"circles": {
			tree("a working b", "b working a", "self working self"), sieve{},
			"Working 2+1\n b\n  a\n self\n"},
		"one id listed twice": {
			tree("same working", "same idle"), sieve{}, "Working 1+0\n same\nIdle 1+0\n same\n"},
		"filter by words, all of them": {
			tree("abc-1 working", "abc-2 idle", "def-1 working"), sieve{filter: "ABC work"}, "Working 1+0\n abc-1\n"},
		"filter finds a folded sub-agent and keeps its parent": {
			tree("p working", "needle stopped p", "q working"), sieve{filter: "needle"}, "Working 1+1\n p\n  needle\n"},
		"filter finds nothing": {tree("a working"), sieve{filter: "zzz"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := build(c.snap, c.how)
			if d := cmp.Diff(c.want, outline(v)); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
			for k, i := range v.at {
				if r := v.rows[i]; r.kind != sessionRow || r.key != k {
					t.Errorf("at[%v] = %d, where %+v stands", k, i, r)
				}
			}
		})
	}
}

func TestNoSessionIsEverMissing(t *testing.T) {
	s := many(1000)
	v := build(s, sieve{})
	listed := len(v.at)
	for _, r := range v.rows {
		if r.kind == moreRow {
			listed += r.count
		}
	}
	if listed != len(s.Sessions) {
		t.Errorf("%d sessions are listed or folded, of %d", listed, len(s.Sessions))
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
	how := sieve{since: clock.AddDate(0, 0, -7), seen: map[key]bool{{agent: adapters.ClaudeCode, id: "seen-live"}: true}}
	want := "Idle 1+0\n live-and-old\nStopped 3+0\n recent\n seen-live\n no-time\n"
	if d := cmp.Diff(want, outline(build(s, how))); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

func TestFilterLooksEverywhere(t *testing.T) {
	s := snapshotOf(session("the-id", adapters.Waiting, func(s *adapters.Session) {
		s.Agent, s.CWD, s.Title, s.Branch = adapters.Codex, "/home/dev/THEproject", "the title Ünïcode", "the-branch"
		s.FirstPrompt, s.LastPrompt, s.WaitingFor = "the first prompt", "the last prompt", adapters.ForPermission
	}))
	for _, text := range []string{"theproject", "Codex", "title", "ünïCODE", "first prompt", "last", "the-branch", "the-id",
		"waiting", "needs permission", "Needs you", "  the   last  "} {
		if v := build(s, sieve{filter: text}); v.matching != 1 {
			t.Errorf("%q doesn't find the session", text)
		}
	}
	for _, text := range []string{"stopped", "the-id zzz"} {
		if v := build(s, sieve{filter: text}); v.matching != 0 {
			t.Errorf("%q finds the session", text)
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
		newView(s, newIndex(s.Sessions), nil, sieve{})
	}
}

func BenchmarkFilter5000(b *testing.B) {
	s := many(5000)
	x, hay := newIndex(s.Sessions), haystacks(s.Sessions)
	b.ReportAllocs()
	for b.Loop() {
		newView(s, x, hay, sieve{filter: "number 12"})
	}
}

func BenchmarkHaystacks5000(b *testing.B) {
	s := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		haystacks(s.Sessions)
	}
}
