package cli

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app/present"
)

func TestTable(t *testing.T) {
	parent := simple("11111111-aaaa", adapters.ClaudeCode, adapters.Working, time.Minute)
	parent.Title = "Fix the build of the parser"
	child := simple("22222222-bbbb", adapters.ClaudeCode, adapters.Idle, 3*time.Hour)
	child.Parent, child.CWD = parent.ID, "/home/dev/proj"
	grandchild := simple("33333333-cccc", adapters.ClaudeCode, adapters.Stopped, time.Hour)
	grandchild.Parent, grandchild.Outcome, grandchild.CWD = child.ID, adapters.Died, "/home/dev/deep"
	orphan := simple("44444444-dddd", adapters.ClaudeCode, adapters.Unknown, 2*time.Minute)
	orphan.Parent = "not listed"
	wait := simple("01a1fc98-11bf", adapters.Codex, adapters.Waiting, 0)
	wait.CWD, wait.LastPrompt = "/home/dev/日本語のプロジェクト名前長い", "絵文字 🧑‍🚀 と日本語のとても長い題名で、切らなければならない"
	twin := simple("01a1fc98-2ae2", adapters.Codex, adapters.Idle, 5*24*time.Hour)
	twin.Outcome, twin.CWD = adapters.Failed, ""
	for _, s := range []*adapters.Session{&parent, &orphan} {
		s.CWD = "/home/dev/rollcall"
	}
	d := deps(claude(parent, child, grandchild, orphan), codex(wait, twin))
	r := run(t, d, "list", "--all")
	want := strings.Join([]string{
		"STATUS              PROJECT       AGENT        AGE  ID          TOPIC",
		"! needs you         日本語のプ…   Codex        now  01a1fc98-1  絵文字 🧑‍🚀 と日…",
		"> working           rollcall      Claude Code  1 m  11111111    Fix the build o…",
		"- idle              └ proj        Claude Code  3 h  22222222",
		"x died in mid-turn    └ deep      Claude Code  1 h  33333333",
		"x idle, failed      (no folder)   Codex        5 d  01a1fc98-2",
		"? unknown           rollcall      Claude Code  2 m  44444444",
	}, "\n") + "\n"
	for _, line := range strings.Split(r.out, "\n") {
		if w := present.Width(line); w > 80 {
			t.Errorf("%d cells: %s", w, line)
		}
	}
	if d := cmp.Diff(want, r.out); d != "" {
		t.Errorf("table (-want +got):\n%s\n%s", d, r.out)
	}
}

// TestTableFits: at every width, whatever the sessions have.
func TestTableFits(t *testing.T) {
	long := full()
	long.ID, long.CWD, long.Title = strings.Repeat("a", 200), "/"+strings.Repeat("界", 100), strings.Repeat("🧑‍🚀", 100)
	for _, list := range [][]adapters.Session{{full()}, {full(), long}, {long}} {
		for width := minWidth; width <= 200; width += 7 {
			r := runOn(t.Context(), t, Streams{Width: width}, deps(claude(list...)), "list")
			for _, line := range strings.Split(r.out, "\n") {
				if w := present.Width(line); w > width {
					t.Errorf("%d cells in a terminal of %d: %s", w, width, line)
				}
			}
		}
	}
}

func TestParentsInACircle(t *testing.T) {
	a, b := simple("a", adapters.Codex, adapters.Idle, 0), simple("b", adapters.Codex, adapters.Idle, 0)
	a.Parent, b.Parent = "b", "a"
	self := simple("self", adapters.Codex, adapters.Idle, 0)
	self.Parent = "self"
	r := run(t, deps(codex(a, b, self)), "list")
	for _, id := range []string{"a", "b", "self"} {
		if n := strings.Count(r.out, "  "+id); n == 0 {
			t.Errorf("%s is missing:\n%s", id, r.out)
		}
	}
	if n := strings.Count(r.out, "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, r.out)
	}
}

func TestUniquePrefixes(t *testing.T) {
	got := uniquePrefixes([]string{"01a1fc98-11bf", "01a1fc98-2ae2", "9830e65d-07df", "short", "01a1fc98", "same", "same"}, 8)
	want := map[string]string{"01a1fc98-11bf": "01a1fc98-1", "01a1fc98-2ae2": "01a1fc98-2", "9830e65d-07df": "9830e65d", "short": "short", "01a1fc98": "01a1fc98", "same": "same"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNothing(t *testing.T) {
	absent := codex()
	absent.err = adapters.ErrAbsent
	r := run(t, deps(claude(), absent), "list")
	if r.code != Done || r.out != "" || !strings.Contains(r.err, "no live sessions; looked in ~/.claude/sessions and 1 more place, ~/.codex (codex is not installed)") {
		t.Errorf("%+v", r)
	}
}

func TestStatusForPeople(t *testing.T) {
	r := run(t, deps(claude(full())), "status", "9830")
	for _, line := range []string{
		"session        9830e65d-07df-45de-a5ee-6ab6aa5d19f2",
		"agent          Claude Code 2.1.329",
		"status         ! needs permission",
		"evidence       registry 18068.json: waiting, 3 s ago",
		"process        18068",
		"folder         ~/proj",
		"tokens         input 100, output 20, cache read 1,000, cache write 7, reasoning 0",
		"context        1,107 of 200,000 tokens (0 %)",
		"cost           $0.12",
		"files          ~/.claude/projects/-home-dev-proj/x.jsonl",
	} {
		if !strings.Contains(r.out, line+"\n") {
			t.Errorf("no line %q in\n%s", line, r.out)
		}
	}
}

func TestDoctorForPeople(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths are those of other systems")
	}
	bad := codex()
	bad.err = adapters.Unrecognised("/home/dev/.codex/state_5.sqlite", "no table threads")
	r := run(t, deps(claude(full()), bad), "doctor")
	for _, part := range []string{
		"rollcall 1.2.3 (headless", "+ Claude Code: 1 session in ", "    missing   ~/.claude/sessions\n", "    versions  2.1.329 (3), 1.0.0 (1)\n",
		"    format    recognised in part\n", "    skipped   unknown record type x: 2\n", "x Codex: not everything could be read; 0 sessions",
		"    problem   /home/dev/.codex/state_5.sqlite: format not recognised: no table threads (a newer Rollcall may know it)\n",
		"    format    not recognised\n",
	} {
		if !strings.Contains(r.out, part) {
			t.Errorf("no %q in\n%s", part, r.out)
		}
	}
}

func TestParseSince(t *testing.T) {
	for in, want := range map[string]time.Duration{"90m": 90 * time.Minute, "12h": 12 * time.Hour, "7d": week, "1.5d": 36 * time.Hour, "4w": 4 * week} {
		if got, err := parseSince(in); err != nil || got != want {
			t.Errorf("parseSince(%q) = %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "7", "d", "-1d", "0d", "NaNd", "Infd", "1e30w", "7 d", "7y"} {
		if got, err := parseSince(in); err == nil {
			t.Errorf("parseSince(%q) = %s", in, got)
		}
	}
}

func BenchmarkListJSON(b *testing.B) {
	list := make([]adapters.Session, 10000)
	for i := range list {
		list[i] = full()
		list[i].ID = fmt.Sprintf("%032x", i)
	}
	d := deps(claude(list...))
	for b.Loop() {
		if code := Execute(b.Context(), []string{"list", "--json"}, Streams{Out: discard{}, Err: discard{}}, d); code != 0 {
			b.Fatal(code)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
