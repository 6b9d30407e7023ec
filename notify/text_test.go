package notify

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/internal/agentname"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ended(s adapters.Session) app.Event {
	s.Status = adapters.Stopped
	return app.Event{Kind: app.Ended, At: noon, Session: app.Session{Session: s}}
}

// turnOfAnHourAgo is a session whose last turn took ten minutes, an hour ago.
func turnOfAnHourAgo(s *adapters.Session) {
	s.StartedAt = noon.Add(-50 * time.Hour)
	s.TurnStartedAt = noon.Add(-70 * time.Minute)
	s.LastActivityAt = noon.Add(-time.Hour)
}

// wasIdle returns the end of a session whose turn was over. Some agents write down that
// they end.
func wasIdle(events []app.Event) []app.Event {
	ev := &events[0]
	ev.Before = ev.Session
	ev.Before.Status = adapters.Idle
	ev.Session.LastActivityAt = noon
	return events
}

func killedSuspended(events []app.Event) []app.Event {
	wasIdle(events)
	events[0].Before.Suspended = true
	events[0].Before.Outcome = ""
	events[0].Session.Outcome = adapters.Died
	return events
}

// launched returns the events with how the launch of the first one ended.
func launched(events []app.Event, code int, signal string) []app.Event {
	events[0].Session.Launch = &app.Launch{ID: "l-1", ExitCode: &code, Signal: signal}
	return events
}

func TestEndedText(t *testing.T) {
	base := adapters.Session{
		ID: "s1", Agent: agentname.ClaudeCode,
		State: adapters.State{Outcome: adapters.Completed},
		Place: adapters.Place{CWD: "/home/dev/proj"},
		Topic: adapters.Topic{Title: "Fix the parser"},
		Times: adapters.Times{StartedAt: noon.Add(-12 * time.Minute)},
	}
	with := func(change func(*adapters.Session)) []app.Event {
		s := base
		change(&s)
		return []app.Event{ended(s)}
	}
	at := func(cwd string, o adapters.Outcome) app.Event {
		return ended(adapters.Session{ID: cwd, Agent: agentname.Codex, Place: adapters.Place{CWD: cwd}, State: adapters.State{Outcome: o}})
	}
	for name, c := range map[string]struct {
		events []app.Event
		want   Text
	}{
		"complete":    {with(func(*adapters.Session) {}), Text{"Claude Code ended in proj", "Fix the parser\nTurn complete, ran 12 m"}},
		"died":        {with(func(s *adapters.Session) { s.Outcome = adapters.Died }), Text{"Claude Code ended in proj", "Fix the parser\nDied in mid-turn, ran 12 m"}},
		"interrupted": {with(func(s *adapters.Session) { s.Outcome = adapters.Interrupted }), Text{"Claude Code ended in proj", "Fix the parser\nStopped by you, ran 12 m"}},
		"failed":      {with(func(s *adapters.Session) { s.Outcome = adapters.Failed }), Text{"Claude Code ended in proj", "Fix the parser\nTurn failed, ran 12 m"}},
		"not known how": {with(func(s *adapters.Session) { s.Outcome = "" }),
			Text{"Claude Code ended in proj", "Fix the parser\nRan 12 m"}},
		"no title": {with(func(s *adapters.Session) {
			s.Title = ""
			s.FirstPrompt = "and now\nthe tests"
			s.LastPrompt = "and now\nthe tests"
		}),
			Text{"Claude Code ended in proj", "and now the tests\nTurn complete, ran 12 m"}},
		"no start": {with(func(s *adapters.Session) { s.StartedAt = time.Time{} }),
			Text{"Claude Code ended in proj", "Fix the parser\nTurn complete"}},
		"clocks differ": {with(func(s *adapters.Session) { s.StartedAt = noon.Add(time.Hour) }),
			Text{"Claude Code ended in proj", "Fix the parser\nTurn complete"}},
		"short": {with(func(s *adapters.Session) { s.StartedAt = noon.Add(-200 * time.Millisecond) }),
			Text{"Claude Code ended in proj", "Fix the parser\nTurn complete, ran 1 s"}},
		"one of several turns": {with(func(s *adapters.Session) {
			s.FirstPrompt = "one"
			s.LastPrompt = "two"
			s.StartedAt = noon.Add(-50 * time.Hour)
			s.TurnStartedAt = noon.Add(-3 * time.Minute)
		}), Text{"Claude Code ended in proj", "Fix the parser\nTurn complete, ran 3 m"}},
		"one of several turns, begun no one knows when": {with(func(s *adapters.Session) {
			s.FirstPrompt = "one"
			s.LastPrompt = "two"
			s.StartedAt = noon.Add(-50 * time.Hour)
		}), Text{"Claude Code ended in proj", "Fix the parser\nTurn complete"}},
		"a long conversation whose first prompt is not known": {with(func(s *adapters.Session) {
			s.LastPrompt, s.StartedAt = "two", noon.Add(-50*time.Hour)
		}), Text{"Claude Code ended in proj", "Fix the parser\nTurn complete"}},
		"closed long after its turn": {wasIdle(with(turnOfAnHourAgo)),
			Text{"Claude Code ended in proj", "Fix the parser\nTurn complete, ran 10 m"}},
		"closed long after a turn without outcome": {wasIdle(with(func(s *adapters.Session) { turnOfAnHourAgo(s); s.Outcome = "" })),
			Text{"Claude Code ended in proj", "Fix the parser\nLast turn ran 10 m"}},
		"killed while suspended": {killedSuspended(with(turnOfAnHourAgo)),
			Text{"Claude Code ended in proj", "Fix the parser\nDied in mid-turn, ran 1 h"}},
		"exit code of a launch": {launched(with(func(s *adapters.Session) { s.Outcome = "" }), 3, ""),
			Text{"Claude Code ended in proj", "Fix the parser\nExit code 3, ran 12 m"}},
		"signal of a launch": {launched(with(func(s *adapters.Session) { s.Outcome = "" }), 137, "SIGKILL"),
			Text{"Claude Code ended in proj", "Fix the parser\nEnded by SIGKILL, ran 12 m"}},
		"outcome of a launch": {launched(with(func(*adapters.Session) {}), 0, ""), Text{"Claude Code ended in proj", "Fix the parser\nTurn complete, ran 12 m"}},
		"nothing known":       {[]app.Event{ended(adapters.Session{ID: "x", Agent: agentname.Pi})}, Text{"Pi ended", ""}},
		"in a container": {with(func(s *adapters.Session) { s.Container = "4026532456" }),
			Text{"Claude Code ended in proj in a container", "Fix the parser\nTurn complete, ran 12 m"}},
		"remote": {with(func(s *adapters.Session) { s.CWD, s.Remote = "", "build-host" }),
			Text{"Claude Code ended on build-host", "Fix the parser\nTurn complete, ran 12 m"}},
		"escape sequences and markup": {with(func(s *adapters.Session) {
			s.Title, s.CWD = "\x1b]0;pwned\a<b>bold</b> & \u202egnp.exe\x00", "/home/dev/a\nb"
		}), Text{"Claude Code ended in a b", "<b>bold</b> & gnp.exe\nTurn complete, ran 12 m"}},
		"two": {[]app.Event{at("/w/api", adapters.Completed), at("/w/web", adapters.Died)},
			Text{"Codex ended with 2 sessions", "api: turn complete\nweb: died in mid-turn"}},
		"five": {[]app.Event{at("/w/a", ""), at("/w/b", ""), at("/w/c", ""), at("/w/d", ""), at("/w/e", "")},
			Text{"Codex ended with 5 sessions", "a\nb\nc\nand 2 more"}},
		"none": {nil, Text{}},
	} {
		if got := EndedText(c.events); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestWaitingText(t *testing.T) {
	for _, c := range []struct {
		waits adapters.WaitingFor
		want  string
	}{
		{adapters.ForPermission, "Claude Code needs permission in proj"},
		{adapters.ForQuestion, "Claude Code asks you in proj"},
		{"", "Claude Code needs you in proj"},
	} {
		got := WaitingText(app.Session{Session: adapters.Session{
			Agent: agentname.ClaudeCode,
			State: adapters.State{Status: adapters.Waiting, WaitingFor: c.waits},
			Place: adapters.Place{CWD: "/home/dev/proj"},
			Topic: adapters.Topic{LastPrompt: "rm -rf build"},
		}})
		if got.Title != c.want || got.Body != "rm -rf build" {
			t.Errorf("%q: %+v", c.waits, got)
		}
	}
}

func TestHugeText(t *testing.T) {
	huge := strings.Repeat("héllo wörld ", 2<<20)
	got := EndedText([]app.Event{ended(adapters.Session{
		Agent: agentname.Codex,
		Place: adapters.Place{CWD: "/" + huge, Remote: huge},
		Topic: adapters.Topic{LastPrompt: huge},
	})})
	if w := present.Width(got.Title); w > 70 {
		t.Errorf("title of %d cells", w)
	}
	if w := present.Width(got.Body); w > topicCells || !utf8.ValidString(got.Body) || !strings.HasSuffix(got.Body, "…") {
		t.Errorf("body of %d cells: %q", w, got.Body)
	}
}

// FuzzText holds what every server relies on: valid UTF-8, few lines, no
// control characters.
func FuzzText(f *testing.F) {
	f.Add("title", "prompt", "/home/dev/proj", "completed")
	f.Add("\x1b[31mred", "\xff\xfe", "/a/\u202eb", "died")
	f.Add("", "]]>\n\"@", "..", "")
	f.Fuzz(func(t *testing.T, title, prompt, cwd, outcome string) {
		s := adapters.Session{
			Agent: agentname.Codex,
			State: adapters.State{Outcome: adapters.Outcome(outcome)},
			Place: adapters.Place{CWD: cwd},
			Topic: adapters.Topic{Title: title, LastPrompt: prompt},
		}
		one, other := ended(s), ended(s)
		for _, text := range []Text{EndedText([]app.Event{one}), EndedText([]app.Event{one, other}), WaitingText(one.Session)} {
			if strings.Contains(text.Title, "\n") || strings.Count(text.Body, "\n") > 3 {
				t.Errorf("lines: %q", text)
			}
			for _, r := range text.Title + strings.ReplaceAll(text.Body, "\n", "") {
				if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
					t.Errorf("control character %q in %q", r, text)
				}
			}
			if !utf8.ValidString(text.Title + text.Body) {
				t.Errorf("not UTF-8: %q", text)
			}
		}
	})
}

func TestMarkup(t *testing.T) {
	for _, c := range []struct{ in, escaped, plain string }{
		{"plain", "plain", "plain"},
		{`a & b <img src="x"> it's`, `a &amp; b &lt;img src="x"&gt; it's`, `a ＆ b ‹img src="x"› it's`},
		{"&amp;", "&amp;amp;", "＆amp;"},
		{"--help", "--help", "‐-help"},
	} {
		if got := escape(c.in); got != c.escaped {
			t.Errorf("escape(%q) = %q", c.in, got)
		}
		if got := withoutMarkup(c.in); got != c.plain {
			t.Errorf("withoutMarkup(%q) = %q", c.in, got)
		}
	}
	for _, bad := range []string{"$(calc)", "`n", `"@`, "“@", "”@", "„@", "]]>"} {
		if got := withoutScript(withoutMarkup(bad)); strings.ContainsAny(got, "$`\"“”„<>") || strings.Contains(got, "]]") {
			t.Errorf("withoutScript(%q) = %q", bad, got)
		}
	}
}

// TestMachineText: the machine stands in the title, beside the folder.
func TestMachineText(t *testing.T) {
	s := app.Session{Machine: "devbox", Session: adapters.Session{
		ID: "devbox:1", Agent: agentname.Codex,
		State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission},
		Place: adapters.Place{CWD: "/src/shop", Remote: "devbox"},
	}}
	if got := WaitingText(s).Title; got != "Codex needs permission in shop on devbox" {
		t.Errorf("%q", got)
	}
}
