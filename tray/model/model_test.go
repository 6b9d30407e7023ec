package model_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/assets"
	"rollcall/internal/agentname"
	"rollcall/proc"
	"rollcall/tray/model"
)

var now = time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func TestOwnTrouble(t *testing.T) {
	m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, Troubles: []string{"disk full: timers can't be kept"}}, nil, now)
	if got := strings.Join(labels(m), "|"); got != "No agents at work|⚠ Rollcall: disk full: timers can't be kept" {
		t.Error(got)
	}
	if m.Icon != assets.Trouble || m.Tooltip != "Rollcall: no agents at work; trouble with Rollcall itself" {
		t.Errorf("%v, %q", m.Icon, m.Tooltip)
	}
}

// TestLeftOut: agents that the settings leave out don't look as if they had no sessions.
func TestLeftOut(t *testing.T) {
	m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, LeftOut: app.LeftOut{Agents: []adapters.Name{agentname.Codex, agentname.Pi}}}, nil, now)
	if got := strings.Join(labels(m), "|"); got != "No agents at work; left out by the settings: Codex, Pi" {
		t.Error(got)
	}
}

// session makes one of Claude Code in /home/dev/<project>.
func session(id string, status adapters.Status, project string, active time.Duration, more ...func(*app.Session)) app.Session {
	s := app.Session{Session: adapters.Session{
		ID: id, Agent: agentname.ClaudeCode,
		State: adapters.State{Status: status},
		Place: adapters.Place{CWD: "/home/dev/" + project},
		Times: adapters.Times{LastActivityAt: ago(active)},
	}}
	for _, f := range more {
		f(&s)
	}
	return s
}

func title(t string) func(*app.Session) { return func(s *app.Session) { s.Title = t } }

func codex(s *app.Session) { s.Agent = agentname.Codex }

func aider(s *app.Session) { s.Agent, s.Evidence = "aider", "process 7: open since 03:01:00" }

func permission(s *app.Session) { s.WaitingFor = adapters.ForPermission }

func suspended(s *app.Session) { s.Suspended = true }

func child(s *app.Session) { s.Parent = "parent" }

func stale(s *app.Session) {
	s.Stale = &app.Stale{Since: ago(8 * time.Minute), Reason: "no answer in 5 s"}
}

func ok(n adapters.Name) app.Health { return app.Health{Name: n, State: app.OK, Answered: now} }

func with(state app.AdapterState, n adapters.Name) app.Health {
	return app.Health{Name: n, State: state}
}

func failed(n adapters.Name, sessions int, answered time.Time, problems ...string) app.Health {
	return app.Health{Name: n, State: app.Failed, Sessions: sessions, Answered: answered, Problems: problems}
}

func labels(m model.Menu) []string {
	var out []string
	for _, r := range m.Rows {
		out = append(out, r.Label())
	}
	return out
}

func TestBuild(t *testing.T) {
	for _, tt := range []struct {
		name     string
		sessions []app.Session
		adapters []app.Health
		rows     []string
		tooltip  string
		icon     assets.State
	}{
		{
			name:     "nothing asked yet",
			adapters: []app.Health{with(app.Pending, agentname.ClaudeCode), with(app.Pending, agentname.Codex)},
			rows:     []string{"Reading the agents…"},
			tooltip:  "Rollcall: reading the agents…",
			icon:     assets.Quiet,
		},
		{
			name:     "one answered with nothing, one is slow",
			adapters: []app.Health{with(app.Absent, agentname.ClaudeCode), with(app.Pending, agentname.Codex)},
			rows:     []string{"Reading the agents…"},
			tooltip:  "Rollcall: reading the agents…",
			icon:     assets.Quiet,
		},
		{
			name:     "one answered, one is slow",
			sessions: []app.Session{session("a", adapters.Working, "shop", 3*time.Minute, title("Fix the login"))},
			adapters: []app.Health{ok(agentname.ClaudeCode), with(app.Pending, agentname.Codex)},
			rows:     []string{"◐ shop · Claude Code · Fix the login · 3 m", "Codex: asking…"},
			tooltip:  "Rollcall: 1 working",
			icon:     assets.Working,
		},
		{
			name:     "nobody at work, the other agent is not installed",
			adapters: []app.Health{ok(agentname.ClaudeCode), with(app.Absent, agentname.Codex)},
			rows:     []string{"No agents at work"},
			tooltip:  "Rollcall: no agents at work",
			icon:     assets.Quiet,
		},
		{
			name:     "nobody seen, but not everybody could be asked",
			adapters: []app.Health{ok(agentname.ClaudeCode), failed(agentname.Codex, 0, time.Time{}, "no answer in 5 s")},
			rows:     []string{"No agents seen at work", "⚠ Codex: no answer in 5 s"},
			tooltip:  "Rollcall: no agents seen at work; trouble with Codex",
			icon:     assets.Trouble,
		},
		{
			name: "order, marks and words",
			sessions: []app.Session{
				session("idle", adapters.Idle, "notes", time.Hour, title("Write the summary")),
				session("idle-failed", adapters.Idle, "api", 2*time.Hour, title("Add paging"), func(s *app.Session) { s.Outcome = adapters.Failed }),
				session("idle-bare", adapters.Idle, "bare", 3*time.Hour),
				session("work-old", adapters.Working, "shop", 5*time.Minute, codex, title("Fix the tests")),
				session("work-new", adapters.Working, "site", 3*time.Second),
				session("asks", adapters.Waiting, "blog", 26*time.Hour, func(s *app.Session) { s.WaitingFor = adapters.ForQuestion }),
				session("may", adapters.Waiting, "infra", time.Minute, codex, permission, title("Run terraform plan")),
				session("which", adapters.Unknown, "lab", 2*time.Minute, func(s *app.Session) { s.Evidence = "runs on another machine" }),
				session("gone", adapters.Stopped, "old", time.Minute),
			},
			adapters: []app.Health{ok(agentname.ClaudeCode), ok(agentname.Codex)},
			rows: []string{
				"◆ blog · Claude Code · asks you · 1 d",
				"◆ infra · Codex · needs permission: Run terraform plan · 1 m",
				"◐ site · Claude Code · working · 3 s",
				"◐ shop · Codex · Fix the tests · 5 m",
				"○ notes · Claude Code · Write the summary · 1 h",
				"○ api · Claude Code · idle, failed: Add paging · 2 h",
				"○ bare · Claude Code · idle · 3 h",
				"? lab · Claude Code · unknown: runs on another machine · 2 m",
			},
			tooltip: "Rollcall: 2 need you, 2 working, 1 unknown, 3 idle",
			icon:    assets.NeedsYou,
		},
		{
			name: "a suspended session is idle, or waits; a process without a session is idle",
			sessions: []app.Session{
				session("paused", adapters.Idle, "shop", time.Minute, suspended, title("Fix the login")),
				session("paused-bare", adapters.Idle, "bare", 2*time.Minute, suspended),
				session("asks", adapters.Waiting, "blog", time.Minute, suspended, permission, title("Publish")),
				{Session: adapters.ProcessSession(agentname.Codex, proc.Process{Identity: proc.Identity{PID: 4711, Start: 9}, Started: ago(3 * time.Minute)}, "/home/dev/lab")},
			},
			rows: []string{
				"◆ blog · Claude Code · needs permission, suspended: Publi… · 1 m",
				"○ shop · Claude Code · suspended: Fix the login · 1 m",
				"○ bare · Claude Code · suspended · 2 m",
				"○ lab · Codex · open, no session yet · 3 m",
			},
			tooltip: "Rollcall: 1 needs you, 3 idle",
			icon:    assets.NeedsYou,
		},
		{
			name: "an agent that is never read has no reason for that in its row",
			sessions: []app.Session{
				session("l-1", adapters.Unknown, "lab", time.Minute, aider, func(s *app.Session) { s.FirstPrompt = "Fix the login" }),
				session("process-7-9", adapters.Unknown, "shop", time.Minute, aider),
				session("aider:7", adapters.Unknown, "site", time.Minute, aider),
			},
			rows: []string{"? site · Aider · unknown: process 7: open since 03:01:00 · 1 m", "? lab · Aider · not read: Fix the login · 1 m",
				"? shop · Aider · not read · 1 m"},
			tooltip: "Rollcall: 3 unknown",
			icon:    assets.Quiet,
		},
		{
			name:     "a suspended session does not make the icon work",
			sessions: []app.Session{session("paused", adapters.Idle, "shop", time.Minute, suspended)},
			rows:     []string{"○ shop · Claude Code · suspended · 1 m"},
			tooltip:  "Rollcall: 1 idle",
			icon:     assets.Quiet,
		},
		{
			name: "a sub-agent is left out, unless it waits for the user",
			sessions: []app.Session{
				session("parent", adapters.Working, "shop", time.Minute, title("Release")),
				session("c1", adapters.Working, "shop", time.Minute, child, title("Search")),
				session("c2", adapters.Waiting, "shop", time.Minute, child, permission, title("Delete")),
			},
			rows:    []string{"◆ shop · Claude Code · needs permission: Delete · 1 m", "◐ shop · Claude Code · Release · 1 m"},
			tooltip: "Rollcall: 1 needs you, 1 working",
			icon:    assets.NeedsYou,
		},
		{
			name: "an adapter failed: its sessions are as last seen",
			sessions: []app.Session{
				session("a", adapters.Working, "shop", time.Minute, title("Fix the login")),
				session("b", adapters.Working, "site", time.Minute, codex, stale, title("Move to Go 1.26")),
			},
			adapters: []app.Health{ok(agentname.ClaudeCode), failed(agentname.Codex, 0, ago(8*time.Minute), "no answer in 5 s")},
			rows: []string{
				"◐ shop · Claude Code · Fix the login · 1 m",
				"◐ site · Codex · Move to Go 1.26 · seen 14:02",
				"⚠ Codex: no answer in 5 s, list from 14:02",
			},
			tooltip: "Rollcall: 2 working; trouble with Codex",
			icon:    assets.Trouble,
		},
		{
			name:     "an adapter answered in part: nobody is hidden by that",
			sessions: []app.Session{session("a", adapters.Working, "shop", time.Minute, title("Fix the login"))},
			adapters: []app.Health{failed(agentname.ClaudeCode, 1, now,
				"/home/dev/.claude/projects/-home-dev-x/0198.jsonl: unreadable: permission denied (give your user read permission on it)", "x", "y")},
			rows: []string{
				"◐ shop · Claude Code · Fix the login · 1 m",
				"⚠ Claude Code: 0198.jsonl: unreadable: permission denied (give your user r… (+2)",
			},
			tooltip: "Rollcall: 1 working; trouble with Claude Code",
			icon:    assets.Working,
		},
		{
			name:     "somebody who needs the user comes before trouble",
			sessions: []app.Session{session("a", adapters.Waiting, "shop", time.Minute, permission)},
			adapters: []app.Health{ok(agentname.ClaudeCode), failed(agentname.Codex, 0, ago(26*time.Hour), "no answer in 5 s")},
			rows:     []string{"◆ shop · Claude Code · needs permission · 1 m", "⚠ Codex: no answer in 5 s, list from 20 Nov 12:10"},
			tooltip:  "Rollcall: 1 needs you; trouble with Codex",
			icon:     assets.NeedsYou,
		},
		{
			name: "text from agents is cleaned and cut",
			sessions: []app.Session{
				session("a", adapters.Working, "s\x1b[31mhop\nx", time.Minute, title("\x1b]0;evil\x07<b>Fix</b>\r\n & the\u202e _login_ page so that it also works for the others")),
				session("b", adapters.Idle, strings.Repeat("日本", 20), time.Hour, title(strings.Repeat("漢", 100))),
				session("c", adapters.Idle, "", 2*time.Hour, func(s *app.Session) { s.CWD, s.Agent = "", "some-\x1b[1mnew-agent-of-a-long-name" }),
				session("d", adapters.Idle, "x", 0, func(s *app.Session) { s.LastActivityAt = time.Time{} }),
			},
			rows: []string{
				"◐ shop x · Claude Code · <b>Fix</b> & the _login_ page so… · 1 m",
				"○ 日本日本日本日本… · Claude Code · 漢漢漢漢漢漢漢漢漢漢… · 1 h",
				"○ (no folder) · some-new-agen… · idle · 2 h",
				"○ x · Claude Code · idle",
			},
			tooltip: "Rollcall: 1 working, 3 idle",
			icon:    assets.Working,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			app.Sort(tt.sessions) // as snapshots have them
			m := model.Build(&app.Snapshot{At: now, Own: tt.sessions, Adapters: tt.adapters}, nil, now)
			if diff := cmp.Diff(tt.rows, labels(m)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if m.Tooltip != tt.tooltip {
				t.Errorf("tooltip %q, want %q", m.Tooltip, tt.tooltip)
			}
			if m.Icon != tt.icon {
				t.Errorf("icon %v, want %v", m.Icon, tt.icon)
			}
		})
	}
}

func TestBuildBeforeAnySnapshot(t *testing.T) {
	m := model.Build(&app.Snapshot{}, nil, now)
	if diff := cmp.Diff([]string{"Reading the agents…"}, labels(m)); diff != "" {
		t.Error(diff)
	}
}

func TestBuildMore(t *testing.T) {
	var sessions []app.Session
	for i := range 22 {
		status := adapters.Idle
		if i < 16 {
			status = adapters.Working
		}
		sessions = append(sessions, session(fmt.Sprintf("s%02d", i), status, fmt.Sprintf("p%02d", i), time.Duration(i)*time.Minute))
	}
	m := model.Build(&app.Snapshot{At: now, Own: sessions}, nil, now)
	if len(m.Rows) != model.MaxSessions+1 {
		t.Fatalf("%d rows: %q", len(m.Rows), labels(m))
	}
	if r := m.Rows[14]; r.Session != "s14" || r.Kind != model.Session {
		t.Errorf("last session row %+v", r)
	}
	last := m.Rows[15]
	if last.Kind != model.More || last.Label() != "7 more… (1 working, 6 idle)" {
		t.Errorf("last row %+v", last)
	}
}

// A prompt of 20 MB, and one that begins with an escape sequence without an end,
// cost as little as a short one.
func TestBuildHugeText(t *testing.T) {
	huge := []app.Session{
		session("a", adapters.Working, "shop", time.Minute, title(strings.Repeat("é", 10<<20))),
		session("b", adapters.Working, "shop", time.Minute, title("\x1b]0;"+strings.Repeat("x", 20<<20))),
	}
	snapshot := &app.Snapshot{At: now, Own: huge}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := model.Build(snapshot, nil, now)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d bytes allocated for a menu of two rows", allocated)
	}
	want := []string{
		"◐ shop · Claude Code · " + strings.Repeat("é", 34) + "… · 1 m",
		"◐ shop · Claude Code · 0;" + strings.Repeat("x", 32) + "… · 1 m",
	}
	if diff := cmp.Diff(want, labels(m)); diff != "" {
		t.Error(diff)
	}
}

// TestAsked: a waiting session's row says what it asks, cut to the row, and leads to the request. One that is suspended takes no answer, and says so instead.
func TestAsked(t *testing.T) {
	asked := func(s *app.Session) string {
		if s.ID == "b" {
			return ""
		}
		return "wants to run: git push " + strings.Repeat("x", 100)
	}
	m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, Own: []app.Session{
		session("a", adapters.Waiting, "shop", time.Minute, permission, title("Fix")), session("b", adapters.Waiting, "api", 2*time.Minute, permission, title("Fix")),
		session("c", adapters.Working, "web", time.Minute, title("Build")), session("d", adapters.Waiting, "blog", time.Minute, permission, suspended)}}, asked, now)
	want := []string{"◆ shop · wants to run: git push xxxxxxxxxxxxxxxxxxxxxxxxx… · 1 m", "◆ api · Claude Code · needs permission: Fix · 2 m", "◐ web · Claude Code · Build · 1 m",
		"◆ blog · Claude Code · needs permission, suspended · 1 m"}
	if diff := cmp.Diff(want, labels(m)); diff != "" {
		t.Error(diff)
	}
	if !m.Rows[0].Waits || !m.Rows[1].Waits || m.Rows[2].Waits || !m.Rows[3].Waits {
		t.Errorf("%+v", m.Rows)
	}
}

// Every label fits, holds no character that moves or hides others, and the same
// snapshot gives the same menu, whatever agents write.
func FuzzBuild(f *testing.F) {
	f.Add("shop", "Fix the login", "runs elsewhere", "/a/b: unreadable", uint8(0))
	f.Add("\x1b[31m", "\u202e\xff", "\x1b]", "a\nb: c", uint8(3))
	f.Add("/x/ y", "  two  spaces  ", "a  b", "/a/ b:  c", uint8(0))
	f.Fuzz(func(t *testing.T, folder, text, evidence, problem string, status uint8) {
		all := []adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Unknown}
		s := session("a", all[int(status)%len(all)], folder, time.Minute, title(text))
		s.Evidence = evidence
		snapshot := &app.Snapshot{At: now, Own: []app.Session{s},
			Adapters: []app.Health{failed("x", 0, ago(time.Hour), problem)}}
		m := model.Build(snapshot, nil, now)
		for _, l := range labels(m) {
			if w := present.Width(l); w > 80 {
				t.Errorf("%d cells: %q", w, l)
			}
			if clean := present.Line(l); clean != l {
				t.Errorf("%q is %q when cleaned", l, clean)
			}
		}
		if diff := cmp.Diff(m, model.Build(snapshot, nil, now)); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	var sessions []app.Session
	for i := range 200 {
		sessions = append(sessions, session(fmt.Sprint(i), adapters.Working, "shop", time.Duration(i)*time.Second, title("Fix the login page")))
	}
	snapshot := &app.Snapshot{At: now, Own: sessions}
	for b.Loop() {
		model.Build(snapshot, nil, now)
	}
}

// TestBuildMachines: rows have their machine's name; a machine that does not answer has a row with its reason and changes nothing else, and
// many of them share one.
func TestBuildMachines(t *testing.T) {
	on := func(s *app.Session) { s.Machine, s.Remote = "devbox", "devbox" }
	snapshot := &app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, Own: []app.Session{
		session("devbox:a", adapters.Working, "shop", time.Minute, on, stale, title("Fix")), session("b", adapters.Idle, "shop", time.Minute)},
		Machines: []app.MachineHealth{{Name: "box", State: app.Pending}, {Name: "devbox", State: app.Failed, Problems: []string{"connection refused"}, Answered: ago(8 * time.Minute)}}}
	m := model.Build(snapshot, nil, now)
	want := []string{"◐ shop · devbox · Claude Code · Fix · seen 14:02", "○ shop · Claude Code · idle · 1 m", "⚠ devbox: connection refused, list from 14:02", "box: connecting…"}
	if diff := cmp.Diff(want, labels(m)); diff != "" || m.Icon != assets.Working {
		t.Errorf("icon %v\n%s", m.Icon, diff)
	}
	snapshot.Machines, snapshot.Own = nil, nil
	for i := range 20 {
		snapshot.Machines = append(snapshot.Machines, app.MachineHealth{Name: fmt.Sprint("m", i), State: app.Failed, Problems: []string{"host not found"}})
	}
	want = []string{"No agents seen at work", "⚠ m0: host not found", "⚠ m1: host not found", "⚠ 18 more machines did not answer"}
	if diff := cmp.Diff(want, labels(model.Build(snapshot, nil, now))); diff != "" {
		t.Error(diff)
	}
}
