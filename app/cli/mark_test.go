package cli

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/marks"
	"rollcall/internal/agentname"
)

// TestMark: the notes about a session are set and removed, and lists follow them. The table leaves out what was put away, and says so; documents have it.
func TestMark(t *testing.T) {
	quiet, waits := simple("quiet", agentname.ClaudeCode, adapters.Idle, time.Hour), simple("waits", agentname.ClaudeCode, adapters.Waiting, time.Hour)
	waits.WaitingFor = adapters.ForPermission
	d := deps(claude(quiet, waits, simple("newer", agentname.ClaudeCode, adapters.Idle, time.Minute)))
	state := t.TempDir()
	d.Marks = func() (*marks.Marks, error) { return marks.In(state), nil }
	for _, wrong := range []string{"mark", "mark quiet newer", "mark quiet --pin --unpin", "mark quiet --hide --show", "mark quiet --snooze 1h --wake", "mark quiet --snooze 1h --until 18:00",
		"mark quiet --mute --unmute", "mark quiet --snooze -1h", "mark quiet --snooze soon", "mark quiet --until soon"} {
		if r := run(t, d, strings.Fields(wrong)...); r.code != Usage || r.err == "" {
			t.Errorf("%q: exit code %d, %s", wrong, r.code, r.err)
		}
	}
	if r := run(t, d, "mark", "no-such", "--pin"); r.code != NoSession {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if r := run(t, d, "mark", "waits", "--snooze", "1h", "--pin"); r.code != 1 || !strings.Contains(r.err, "needs you") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	list := func(args ...string) string {
		r := run(t, d, append([]string{"list"}, args...)...)
		return r.out + r.err
	}
	if text := list(); strings.Contains(text, "hidden") || !strings.Contains(list("--hidden"), "no live sessions that you have hidden or snoozed") {
		t.Errorf("without marks: %s", text)
	}
	for _, c := range []struct{ flags, says, table, hidden, json string }{
		{"", "quiet has no mark", "waits newer quiet", "", ""},
		{"--pin", "quiet is pinned", "waits quiet newer", "", `"pinned":true`},
		{"--name Parser", "quiet is called “Parser” and is pinned", "waits quiet newer", "", `"name":"Parser"`},
		{"--hide --mute", "quiet is called “Parser” and is pinned, hidden, muted", "waits newer", "quiet", `"hidden":true`},
		{"--show --unpin --name=", "quiet is muted", "waits newer quiet", "", `"muted":true`},
		{"--until change --unmute", "quiet is snoozed until it changes", "waits newer", "quiet", `"snoozed":true`},
		{"--snooze 2h", "quiet is snoozed until ", "waits newer", "quiet", `"snoozed_until":"`},
		{"--wake", "quiet has no mark", "waits newer quiet", "", ""},
	} {
		r := run(t, d, append([]string{"mark", "qui"}, strings.Fields(c.flags)...)...)
		if r.code != Done || !strings.HasPrefix(r.out, c.says) {
			t.Errorf("%q: exit code %d, %q, %s", c.flags, r.code, r.out, r.err)
		}
		if got := ids(list(), "quiet", "newer", "waits"); got != c.table {
			t.Errorf("%q: the table has %s, not %s", c.flags, got, c.table)
		}
		if got := ids(list("--hidden"), "quiet", "newer", "waits"); got != c.hidden {
			t.Errorf("%q: hidden are %q", c.flags, got)
		}
		if text := strings.ReplaceAll(list("--json"), `": `, `":`); !strings.Contains(text, c.json) || !strings.Contains(text, `"id":"quiet"`) {
			t.Errorf("%q: the document is %s", c.flags, text)
		}
		if text := list(); strings.Contains(text, "1 hidden or snoozed (rollcall list --hidden shows it)") != (c.hidden != "") {
			t.Errorf("%q: %s", c.flags, text)
		}
	}
	if r := run(t, d, "mark", "waits", "--hide"); r.code != Done || r.out != "waits is hidden once it does not need you\n" || ids(list(), "waits") != "waits" {
		t.Errorf("%q, %s: %s", r.out, r.err, list())
	}
}

// ids returns those of ids that a table has, in their order in it.
func ids(table string, ids ...string) string {
	var out []string
	for line := range strings.Lines(table) {
		for _, id := range ids {
			if strings.Contains(line, " "+id+" ") {
				out = append(out, id)
			}
		}
	}
	return strings.Join(out, " ")
}
