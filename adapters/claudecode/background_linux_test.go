package claudecode

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// wakeLines are a call and its result in the form of 2.1.332.
func wakeLines(message, tool, key string, at time.Time) string {
	result := strings.Replace(resultLine(message+"w"), `"type":"user"`, fmt.Sprintf(`"type":"user","toolUseResult":{%q:%d,"recurring":true}`, key, at.UnixMilli()), 1)
	return callLine(message, message+"w", tool) + result
}

// TestWakeUps: the wake-ups of the last turn are told, until another turn begins, the time comes, or another process has the session.
func TestWakeUps(t *testing.T) {
	soon, later := time.Now().Add(20*time.Minute).Truncate(time.Millisecond), time.Now().Add(40*time.Minute).Truncate(time.Millisecond)
	wake := func(message string, at time.Time) string { return wakeLines(message, wakeUpTool, "scheduledFor", at) }
	cron := func(message string, at time.Time) string { return wakeLines(message, scheduleTool, "nextFireAt", at) }
	padding := strings.Repeat(`{"type":"api-request-shape","shape":"`+strings.Repeat("x", 90_000)+`"}`+"\n", 4)
	type wakeCase struct {
		lines []string
		want  []time.Time
	}
	cases := func() map[string]wakeCase {
		return map[string]wakeCase{
			"one":                  {[]string{wake("m1", soon), doneLine("m2")}, []time.Time{soon}},
			"moved":                {[]string{wake("m1", soon), wake("m2", later), doneLine("m3")}, []time.Time{later}},
			"of two kinds":         {[]string{cron("m1", later), wake("m2", soon), doneLine("m3")}, []time.Time{later, soon}},
			"not set again":        {[]string{wake("m1", soon), callLine("m2", "stop", wakeUpTool), resultLine("stop"), doneLine("m3")}, nil},
			"cancelled":            {[]string{cron("m1", later), callLine("m2", "no", cancelTool), resultLine("no"), doneLine("m3")}, nil},
			"over":                 {[]string{wake("m1", time.Now().Add(-time.Second)), doneLine("m2")}, nil},
			"another turn":         {[]string{wake("m1", soon), doneLine("m2"), promptLine("more"), doneLine("m3")}, nil},
			"of another process":   {[]string{wake("m1", soon), doneLine("m2")}, nil},
			"far from the end":     {[]string{padding, wake("m1", soon), doneLine("m2"), padding}, nil},
			"in a long transcript": {[]string{padding, wake("m1", soon), doneLine("m2")}, []time.Time{soon}},
			"a result like it":     {[]string{wakeLines("m1", "Read", "scheduledFor", soon), doneLine("m2")}, nil},
		}
	}
	for name := range cases() {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			p := w.start(filepath.Join(w.home, "proj"))
			c := cases()[name] // its records are younger than the process
			lines := append([]string{promptLine("hi")}, c.lines...)
			if name == "of another process" {
				half := strings.SplitAfter(lines[1], "\n")
				lines[1] = ago(half[0], time.Hour) + ago(half[1], time.Hour)
			}
			path := w.transcript(1, lines...)
			w.entry(p, id(1), nil)
			sessions, _, err := w.discover(adapters.Query{})
			w.check(err)
			s := w.expect(sessions, 1, "idle completed")
			var got []time.Time
			for _, b := range s.Background {
				if b.Kind == adapters.WakeUp {
					got = append(got, b.At)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("wakes at %v, not %v", got, c.want)
			}
			if len(c.want) > 0 && s.AskAgain.IsZero() {
				t.Error("the row is not read again then")
			}
			w.write(path, strings.Join(lines, "")+promptLine("and now")+callLine("m9", "u9", "Bash"))
			w.entry(p, id(1), map[string]any{"status": "busy"})
			sessions, _, err = w.discover(adapters.Query{})
			w.check(err)
			if s := w.expect(sessions, 1, "working"); len(s.Background) > 0 {
				t.Errorf("in a turn: %v", s.Background)
			}
		})
	}
}

// shellTable is a process table whose processes have command lines.
type shellTable struct {
	proc.Lister
	args map[int][]string
}

func (t shellTable) Args(id proc.Identity) ([]string, error) { return t.args[id.PID], nil }

// TestCommandsInTree: the shells in the process's tree are the commands that run. The command lines are those of 2.1.332 with bash and in its sandbox.
func TestCommandsInTree(t *testing.T) {
	script := `source /home/dev/.claude/shell-snapshots/snapshot-bash-1795898066461-qhkmc6.sh 2>/dev/null || true && \builtin shopt -u extglob 2>/dev/null || true && ` +
		`eval 'perl -e '"'"'select(undef,undef,undef,25)'"'"'; echo hello' < /dev/null && pwd -P >| /tmp/claude-a73a-cwd`
	row := func(pid, ppid int, start uint64) proc.Process {
		return proc.Process{Identity: proc.Identity{PID: pid, Start: start}, PPID: ppid, Started: time.Unix(int64(start), 0)}
	}
	agent := row(21, 20, 100)
	table := &table{rows: []proc.Process{agent, row(82, 21, 300), row(83, 82, 301), row(84, 21, 120), row(85, 21, 200), row(86, 99, 200), row(87, 21, 50)}}
	table.Lister = shellTable{args: map[int][]string{82: {"/bin/bash", "-c", script}, 83: {"perl", "-e", "select"}, 84: {"node", "mcp.js", "eval 'x'"},
		85: {"bwrap", "--", "/bin/zsh", "-c", "eval 'make test' && pwd -P >| /tmp/x"}, 86: {"/bin/bash", "-c", script}, 87: {"/bin/bash", "-c", script}}}
	got := table.commands(agent)
	if len(got) != 2 || got[0].What != "make test" || got[1].What != "perl -e 'select(undef,undef,undef,25)'; echo hello" || got[1].Since.Unix() != 300 || got[0].Kind != adapters.Running {
		t.Errorf("%+v", got)
	}
}

// TestSameCall: an open turn that makes the same call again and again is named in the evidence, by a reader that saw it grow and by one that did not.
func TestSameCall(t *testing.T) {
	call := func(n int, command string) string {
		use := fmt.Sprintf("u%d", n)
		return answerLine(fmt.Sprintf("m%d", n), "tool_use", fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}`, use, command)) + resultLine(use)
	}
	times := func(n int, gap string) (text string) {
		for i := range n {
			text += call(i, "make test") + gap
		}
		return text
	}
	padding := `{"type":"api-request-shape","shape":"` + strings.Repeat("x", 90_000) + `"}` + "\n"
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"four times":             {times(4, ""), false},
		"five times":             {times(5, ""), true},
		"many times":             {times(9, ""), true},
		"another before":         {call(20, "ls") + times(5, ""), true},
		"another between":        {times(3, "") + call(20, "ls") + times(3, ""), false},
		"another after":          {times(7, "") + call(20, "ls"), false},
		"a prompt between":       {times(3, "") + promptLine("again") + times(3, ""), false},
		"far apart":              {padding + padding + times(6, padding+padding), true},
		"far apart, four":        {call(20, "ls") + padding + padding + times(4, padding+padding), false},
		"written twice":          {call(1, "ls") + call(1, "ls") + call(1, "ls") + call(1, "ls") + call(1, "ls"), false},
		"the turn is over since": {times(6, "") + doneLine("m30"), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			p := w.start(filepath.Join(w.home, "proj"))
			w.entry(p, id(1), map[string]any{"status": "busy"})
			path := w.transcript(1, promptLine("hi"))
			a := New(w.config)
			text := promptLine("hi")
			for line := range strings.Lines(c.text) {
				text += line
				w.write(path, text)
				if strings.Contains(line, "tool_result") {
					_, _, err := ask(w, a, adapters.Query{})
					w.check(err)
				}
			}
			for reader, a := range map[string]*Adapter{"that saw it grow": a, "that begins now": New(w.config)} {
				sessions, _, err := ask(w, a, adapters.Query{})
				w.check(err)
				if said := strings.Contains(sessions[id(1)].Evidence, "the same call"); said != c.want {
					t.Errorf("a reader %s: %s", reader, sessions[id(1)].Evidence)
				}
			}
		})
	}
}
