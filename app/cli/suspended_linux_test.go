package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// suspend is s with its process stopped by a signal.
func suspend(s adapters.Session) app.Session {
	s.Suspended = true
	return app.Session{Session: s}
}

// open is the row of a process without a session.
func open(pid int) adapters.Session {
	return adapters.ProcessSession(agentname.Codex, proc.Process{
		Identity: proc.Identity{PID: pid, Start: 99}, Started: time.Now().Add(-time.Minute)}, "/home/dev/lab")
}

func TestTableOfSuspendedAndOpen(t *testing.T) {
	wait := simple("99999999-aaaa", agentname.ClaudeCode, adapters.Waiting, time.Minute)
	wait.WaitingFor = adapters.ForPermission
	c := newEnv(t.Context(), Streams{}, deps())
	c.streams.Width = 100
	printTable(c.output, []app.Session{suspend(wait), suspend(simple("11111111-aaaa", agentname.ClaudeCode, adapters.Idle, time.Minute)),
		{Session: open(471)}, {Session: open(4711)}}, time.Now())
	want := strings.Join([]string{
		"STATUS                         PROJECT        AGENT        AGE  ID             TOPIC",
		"! needs permission, suspended  99999999-aaaa  Claude Code  1 m  99999999",
		"- suspended                    11111111-aaaa  Claude Code  1 m  11111111",
		"- open, no session yet         lab            Codex        1 m  process-471-",
		"- open, no session yet         lab            Codex        1 m  process-4711-",
	}, "\n") + "\n"
	if d := cmp.Diff(want, c.out.String()); d != "" {
		t.Errorf("table (-want +got):\n%s", d)
	}
}

func TestSuspendedSessionInWords(t *testing.T) {
	c := newEnv(t.Context(), Streams{}, deps())
	s := suspend(simple("a", agentname.Codex, adapters.Idle, time.Minute))
	printSession(c.output, &s, time.Now())
	if !strings.Contains(c.out.String(), "status         - suspended\n") {
		t.Errorf("status says\n%s", c.out.String())
	}
	line := eventLine(&app.Event{Kind: app.Changed, At: time.Now(), Session: s}, 0)
	if !strings.Contains(line, "  suspended          Codex") {
		t.Errorf("watch says %q", line)
	}
}

func TestSuspendedInJSON(t *testing.T) {
	c := newEnv(t.Context(), Streams{}, deps())
	s := suspend(full())
	stale := s
	stale.Suspended = false
	must.Do(t, c.json(newDocument(time.Now(), []app.Session{s}, []app.Health{{State: app.OK, LookedIn: []string{"x"}, Problems: []string{"y"}}})))
	want := append(slices.Clone(promised), "sessions[].suspended")
	slices.Sort(want)
	if d := cmp.Diff(want, keys(t, c.out.String())); d != "" {
		t.Errorf("keys (-promised +got):\n%s", d)
	}
	event, err := json.Marshal(sessionAsJSON(&s))
	if err != nil || !strings.Contains(string(event), `"suspended":true`) {
		t.Errorf("an event's session is %s, %v", event, err)
	}
	event, _ = json.Marshal(sessionAsJSON(&stale))
	if strings.Contains(string(event), "suspended") {
		t.Errorf("one that runs is %s", event)
	}
}

// A process without a session can be found and stopped; there is nothing to read
// or to resume in it.
func TestProcessWithoutSession(t *testing.T) {
	s := running(t, simple("x", agentname.Codex, adapters.Idle, 0), "sleep", "60")
	table := proc.OpenAt("/proc", "/etc")
	p := must.Get(table.Find(s.Process.PID))(t)
	row := adapters.ProcessSession(agentname.Codex, p, t.TempDir())
	d := withTable(&peekingAgent{agent: codex(row)})
	prefix := row.ID[:strings.LastIndexByte(row.ID, '-')+1]
	if r := run(t, d, "list"); !strings.Contains(r.out, "open, no session yet") || !strings.Contains(r.out, prefix) {
		t.Errorf("list says\n%s%s", r.out, r.err)
	}
	for _, args := range [][]string{{"peek", prefix}, {"peek", "--follow", prefix}} {
		if r := run(t, d, args...); r.code != Done || !strings.Contains(r.err, "has no session yet, so there are no messages") {
			t.Errorf("%v: code %d, says %q", args, r.code, r.err)
		}
	}
	if r := run(t, d, "resume", "--force", prefix, "-p", "go on"); r.code != Failure || !strings.Contains(r.err, "has no session yet: there is nothing to resume") {
		t.Errorf("resume: code %d, says %q", r.code, r.err)
	}
	if r := run(t, d, "stop", prefix); r.code != Done || alive(s) {
		t.Errorf("stop: code %d, says %q, %q; alive: %v", r.code, r.out, r.err, alive(s))
	}
}
