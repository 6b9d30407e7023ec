package ui

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/internal/agentname"
)

func TestAgentsPage(t *testing.T) {
	w := open(t, broken(full()))
	w.system.missing = map[string]bool{"/home/dev/.codex/archived_sessions": true}
	w.ui.open(pageAgents)
	w.until("the places", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.agents.Content), "\n"), "(does not exist)")
	})
	shows(t, w.ui.agents.Content,
		"Claude Code", "OK", "2.1.329 (7), 2.1.100 (2)", "4 s ago, took 3 ms",
		"Codex", "failed", "give your user read permission on it", "no answer in 5 s", "1 m ago", "took 5 s",
		"12 × unknown record type turn_hint, 1 × line longer than 16 MB",
		"/home/dev/.codex/archived_sessions  (does not exist)")
	if all := strings.Join(shownTexts(w.ui.agents.Content), "\n"); strings.Contains(all, "/home/dev/.codex/sessions  (doesn't") {
		t.Error("a place that exists is said not to")
	}
	s := full()
	s.Adapters = append(s.Adapters, app.Health{Name: agentname.Pi, State: app.Absent}, app.Health{Name: agentname.OpenCode, State: app.Pending, Asking: true})
	w.publish(s)
	shows(t, w.ui.agents.Content, "not installed", "reading…")
}

// TestAgentsPageLeftOut: the page lists agents that the settings leave out, also if these are all.
func TestAgentsPageLeftOut(t *testing.T) {
	s := full()
	s.LeftOut.Adapters, s.Adapters = s.Adapters, nil
	for _, h := range s.LeftOut.Adapters {
		s.LeftOut.Agents = append(s.LeftOut.Agents, h.Name)
	}
	w := open(t, s)
	w.ui.open(pageAgents)
	shows(t, w.ui.agents.Content, "Claude Code", "no: left out by the settings", "2.1.329 (7), 2.1.100 (2)")
	w.shoot("agents-left-out")
}

func TestAgentsPageIsBounded(t *testing.T) {
	s := full()
	for i := range 5000 {
		s.Adapters[0].Problems = append(s.Adapters[0].Problems, "\x1b[31mproblem\x1b[0m")
		s.Adapters[0].Versions[strings.Repeat("v", i%300)] = i
	}
	w := open(t, s)
	w.ui.open(pageAgents)
	all := strings.Join(shownTexts(w.ui.agents.Content), "\n")
	if len(all) > 10_000 || strings.ContainsRune(all, '\x1b') {
		t.Errorf("%d bytes are shown", len(all))
	}
	shows(t, w.ui.agents.Content, "and 4980 more", "and 290 more")
}

func TestRecentFolders(t *testing.T) {
	at := func(cwd string, age time.Duration) app.Session {
		return session(cwd, adapters.Idle, func(s *adapters.Session) { s.CWD, s.LastActivityAt = cwd, ago(age) })
	}
	remote := at("/remote", 0)
	contained := at("/contained", 0)
	sub := at("/sub", 0)
	remote.Remote = "gateway"
	contained.Container = "4026532456"
	sub.Parent = "x"
	got := launch.FoldersOn(snapshotOf(at("/old", time.Hour), at("/new", time.Minute), at("/old", time.Second), remote, contained, sub, at("", 0)), "", 12)
	if strings.Join(got, " ") != "/old /new" {
		t.Errorf("got %q", got)
	}
}
