package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

func TestTable(t *testing.T) {
	parent := simple("11111111-aaaa", agentname.ClaudeCode, adapters.Working, time.Minute)
	parent.Title = "Fix the build of the parser"
	child := simple("22222222-bbbb", agentname.ClaudeCode, adapters.Idle, 3*time.Hour)
	child.Parent, child.CWD = parent.ID, "/home/dev/proj"
	grandchild := simple("33333333-cccc", agentname.ClaudeCode, adapters.Stopped, time.Hour)
	grandchild.Parent = child.ID
	grandchild.Outcome = adapters.Died
	grandchild.CWD = "/home/dev/deep"
	orphan := simple("44444444-dddd", agentname.ClaudeCode, adapters.Unknown, 2*time.Minute)
	orphan.Parent = "not listed"
	wait := simple("01a1fc98-11bf", agentname.Codex, adapters.Waiting, 0)
	wait.CWD, wait.LastPrompt = "/home/dev/日本語のプロジェクト名前長い", "絵文字 🧑‍🚀 と日本語のとても長い題名で、切らなければならない"
	twin := simple("01a1fc98-2ae2", agentname.Codex, adapters.Idle, 5*24*time.Hour)
	twin.Outcome, twin.CWD = adapters.Failed, ""
	for _, s := range []*adapters.Session{&parent, &orphan} {
		s.CWD = "/home/dev/rollcall"
	}
	d := deps(claude(parent, child, grandchild, orphan), codex(wait, twin))
	r := runOn(t.Context(), t, Streams{Width: 80}, d, "list", "-a")
	want := strings.Join([]string{
		"STATUS              PROJECT       AGENT        AGE  ID          TOPIC",
		"! needs you         日本語のプ…   Codex        now  01a1fc98-1  絵文字 🧑‍🚀 と日…",
		"> working           rollcall      Claude Code  1 m  11111111    Fix the build o…",
		"- idle              └ proj        Claude Code  3 h  22222222",
		"x died in mid-turn    └ deep      Claude Code  1 h  33333333",
		"x idle, failed      (no folder)   Codex        5 d  01a1fc98-2",
		"? unknown           rollcall      Claude Code  2 m  44444444",
	}, "\n") + "\n"
	for line := range strings.SplitSeq(r.out, "\n") {
		if w := present.Width(line); w > 80 {
			t.Errorf("%d cells: %s", w, line)
		}
	}
	if d := cmp.Diff(want, r.out); d != "" {
		t.Errorf("table (-want +got):\n%s\n%s", d, r.out)
	}
}

// TestColumnsOfTheTable: models and groups have a column where a session has one and there is room; without a terminal
// every column is there, and nothing is cut.
func TestColumnsOfTheTable(t *testing.T) {
	plain := app.Session{Session: simple("11111111-aaaa", agentname.Codex, adapters.Working, 0)}
	plain.CWD, plain.Title = "/home/dev/a", strings.Repeat("long ", 40)+"end"
	model, group := plain, plain
	model.ID, model.Model = "22222222-aaaa", "gpt-6-codex"
	group.ID, group.Launch = "33333333-aaaa", &app.Launch{Group: "g-a1b2c3"}
	alike, twin := plain, plain
	alike.ID, twin.ID = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
	for name, c := range map[string]struct {
		list  []app.Session
		width int
		want  string
	}{
		"ids alike":      {[]app.Session{alike, twin}, 80, "STATUS PROJECT AGENT AGE ID TOPIC"},
		"neither":        {[]app.Session{plain}, 100, "STATUS PROJECT AGENT AGE ID TOPIC"},
		"a model":        {[]app.Session{plain, model}, 100, "STATUS PROJECT AGENT MODEL AGE ID TOPIC"},
		"a group":        {[]app.Session{plain, group}, 100, "STATUS PROJECT AGENT GROUP AGE ID TOPIC"},
		"both":           {[]app.Session{model, group}, 80, "STATUS PROJECT AGENT MODEL GROUP AGE ID TOPIC"},
		"narrow":         {[]app.Session{model, group}, 66, "STATUS PROJECT AGENT GROUP AGE ID TOPIC"},
		"a phone":        {[]app.Session{model, group}, 30, "STATUS PROJECT ID"},
		"not a terminal": {[]app.Session{plain}, 0, "STATUS PROJECT AGENT MODEL GROUP AGE ID TOPIC"},
	} {
		e := newEnv(t.Context(), Streams{Width: c.width}, deps())
		printTable(e.output, c.list, time.Now())
		head, rows, _ := strings.Cut(e.out.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != c.want {
			t.Errorf("%s: columns %q, want %q\n%s", name, got, c.want, e.out.String())
		}
		if c.width == 0 && (!strings.Contains(rows, "11111111-aaaa") || !strings.HasSuffix(rows, "long end\n")) {
			t.Errorf("%s: %s", name, rows)
		}
	}
}

// TestTableFits: at every width, whatever the sessions have.
func TestTableFits(t *testing.T) {
	long := full()
	long.ID = strings.Repeat("a", 200)
	long.CWD = "/" + strings.Repeat("界", 100)
	long.Title = strings.Repeat("🧑‍🚀", 100)
	long.Model = strings.Repeat("m", 90)
	other := long
	other.ID += "b"
	for _, list := range [][]adapters.Session{{full()}, {full(), long}, {long}, {long, other}} {
		for width := 1; width <= 300; width++ {
			r := runOn(t.Context(), t, Streams{Width: width}, deps(claude(list...)), "list")
			for line := range strings.SplitSeq(r.out, "\n") {
				if w := present.Width(line); w > width {
					t.Errorf("%d cells in a terminal of %d: %s", w, width, line)
				}
			}
		}
	}
}

func TestParentsInACircle(t *testing.T) {
	a, b := simple("a", agentname.Codex, adapters.Idle, 0), simple("b", agentname.Codex, adapters.Idle, 0)
	a.Parent, b.Parent = "b", "a"
	self := simple("self", agentname.Codex, adapters.Idle, 0)
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

// TestNothing: an empty answer is one line that says of which agents it is known; one that failed is never "no sessions".
func TestNothing(t *testing.T) {
	nowhere := must.Get(filepath.Abs("/nowhere"))(t)
	absent, failed := codex(), codex()
	absent.err, failed.err = adapters.ErrAbsent, adapters.Unreadable("/home/dev/.codex", fs.ErrPermission)
	pi := &agent{name: agentname.Pi, err: adapters.ErrAbsent}
	const stopped = "; stopped ones: rollcall list -a"
	for _, c := range []struct {
		deps Deps
		args string
		want string
	}{
		{deps(claude(), codex()), "", "no live sessions of claude-code, codex" + stopped},
		{deps(claude(), absent), "", "no live sessions of claude-code; 1 agent not installed" + stopped},
		{deps(claude(), absent, pi), "-a", "no sessions of claude-code in the last 7 days; 2 agents not installed"},
		{deps(claude(), codex()), "--since all", "no sessions of claude-code, codex"},
		{deps(claude(), codex()), "--status working --group g", "no working sessions of claude-code, codex in group g"},
		{deps(claude(), codex()), "--cwd " + nowhere + " -a", "no sessions of claude-code, codex in " + nowhere + " in the last 7 days"},
		{deps(claude(), failed), "", "no live sessions of claude-code; not everything of codex could be read" + stopped},
		{deps(failed, pi), "", "not known whether there are sessions: not everything of codex could be read"},
		{deps(absent, pi), "", "no agent is installed"},
		{deps(absent, pi), "--agent codex", "codex is not installed"},
	} {
		r := run(t, c.deps, append([]string{"list"}, strings.Fields(c.args)...)...)
		first, _, _ := strings.Cut(r.err, "\n")
		code := Done
		if strings.Contains(c.want, "could be read") {
			code = Incomplete
		}
		if r.code != code || r.out != "" || first != "rollcall: "+c.want {
			t.Errorf("list %s: %+v, want %q", c.args, r, c.want)
		}
	}
}

// TestListFolder: --cwd knows a folder by each of its paths, and what lies below it.
func TestListFolder(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "link")
	must.Do(t, os.MkdirAll(filepath.Join(base, "real", "sub"), 0o700))
	if err := os.Symlink(filepath.Join(base, "real"), link); err != nil {
		t.Skip(err)
	}
	var list []adapters.Session
	for id, dir := range map[string]string{"in": "real", "below": "real/sub", "linked": "link/sub", "beside": "really", "above": "", "gone": "real/gone"} {
		s := simple(id, agentname.ClaudeCode, adapters.Working, 0)
		s.CWD = filepath.Join(base, dir)
		list = append(list, s)
	}
	remote := simple("remote", agentname.ClaudeCode, adapters.Working, 0)
	remote.CWD, remote.Remote = filepath.Join(base, "real"), "gw"
	for _, dir := range []string{filepath.Join(base, "real"), link} {
		r := run(t, deps(claude(append(list, remote)...)), "list", "--cwd", dir, "--json")
		var got struct{ Sessions []struct{ ID string } }
		must.Do(t, json.Unmarshal([]byte(r.out), &got))
		var ids []string
		for _, s := range got.Sessions {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		if d := cmp.Diff([]string{"below", "gone", "in", "linked"}, ids); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
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
		"    problem   /home/dev/.codex/state_5.sqlite: format not recognised: no table threads (a newer version of Rollcall may recognise it)\n",
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
