package present

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/internal/agentname"
	"rollcall/proc"
)

func TestLine(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain":                {"fix the tests", "fix the tests"},
		"folded":               {" a\n\tb  c\r\n", "a b c"},
		"colour":               {"\x1b[31mred\x1b[0m", "red"},
		"title sequence":       {"\x1b]0;owned\x07after", "after"},
		"string terminator":    {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		"unterminated string":  {"\x1b]0;never ends\nnext line", "0;never ends next line"},
		"many introducers":     {strings.Repeat("\x1b]", 1<<20) + "end", "end"},
		"unterminated at end":  {"run \x1b]rm -rf /", "run rm -rf /"},
		"unterminated control": {"a\x1b[31", "a"},
		"8 bit control":        {"a\u009b31mb\u009dtitle\u009cc", "abc"},
		"lone escape":          {"a\x1b", "a"},
		"bell and delete":      {"a\x07b\x7fc\x00", "abc"},
		"right to left":        {"abc\u202egpj.exe", "abcgpj.exe"},
		"zero width":           {"pay\u200bpal", "paypal"},
		"emoji family":         {"👩‍👩‍👧 ok", "👩‍👩‍👧 ok"},
		"markup stays text":    {"<b>&amp;</b>", "<b>&amp;</b>"},
		"invalid utf-8":        {"a\xffb", "a\ufffdb"},
		"cjk":                  {"修复 测试", "修复 测试"},
	} {
		if got := Line(tc.in); got != tc.want {
			t.Errorf("%s: Line(%q) = %q, want %q", name, tc.in, got, tc.want)
		}
	}
}

func TestTextKeepsLines(t *testing.T) {
	if got, want := Text("\x1b[1mone\x1b[0m\r\n\ttwo\n"), "one\n\ttwo"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"\x1b[31mred", "\x1b]0;t\x07", "\u009b1m", "a\xff\x1bP", "👩‍👩‍👧\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Line(%q) = %q is not UTF-8", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) {
				t.Fatalf("Line(%q) = %q has a control character", s, got)
			}
		}
		if again := Line(got); again != got {
			t.Fatalf("Line is not idempotent: %q, then %q", got, again)
		}
		for _, w := range []int{0, 1, 7, 40} {
			if cut := Cut(got, w); Width(cut) > max(w, 0) {
				t.Fatalf("Cut(%q, %d) = %q is %d wide", got, w, cut, Width(cut))
			}
		}
	})
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too…"},
		{"修复测试", 5, "修复…"},
		{"修复测试", 4, "修…"},
		{"👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"},
		{"x", 0, ""},
	} {
		if got := Cut(tc.in, tc.width); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", time.Second: "now", 42 * time.Second: "42 s", 5*time.Minute + 59*time.Second: "5 m",
		3 * time.Hour: "3 h", 50 * time.Hour: "2 d",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%v) = %q, want %q", d, got, want)
		}
	}
	if got := Since(time.Time{}, time.Now()); got != "" {
		t.Errorf("the age of no time is %q", got)
	}
}

// suspendedProcess is a process without a session that is stopped by a signal.
var suspendedProcess = func() adapters.Session {
	s := adapters.ProcessSession(agentname.Codex, proc.Process{}, "/w")
	s.Suspended = true
	return s
}()

func TestStatus(t *testing.T) {
	for want, s := range map[string]adapters.Session{
		"working":                     {State: adapters.State{Status: adapters.Working}},
		"needs permission":            {State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission}},
		"asks you":                    {State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForQuestion}},
		"needs you":                   {State: adapters.State{Status: adapters.Waiting}},
		"idle":                        {State: adapters.State{Status: adapters.Idle, Outcome: adapters.Completed}},
		"idle, failed":                {State: adapters.State{Status: adapters.Idle, Outcome: adapters.Failed}},
		"working, rate limit reached": {State: adapters.State{Status: adapters.Working, Limited: true}},
		"idle, rate limit reached":    {State: adapters.State{Status: adapters.Idle, Outcome: adapters.Failed, Limited: true}},
		"rate limit reached":          {State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Failed, Limited: true}},
		"died in mid-turn":            {State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Died}},
		"stopped":                     {State: adapters.State{Status: adapters.Stopped}},
		"unknown":                     {State: adapters.State{Status: adapters.Unknown}},

		"suspended":                   {State: adapters.State{Status: adapters.Idle, Suspended: true, Outcome: adapters.Completed}},
		"suspended, failed":           {State: adapters.State{Status: adapters.Idle, Suspended: true, Outcome: adapters.Failed}},
		"needs permission, suspended": {State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission, Suspended: true}},
		"unknown, suspended":          {State: adapters.State{Status: adapters.Unknown, Suspended: true}},
		"turn complete":               {State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Completed, Suspended: true}},
		"open, no session yet":        adapters.ProcessSession(agentname.Codex, proc.Process{}, "/w"),
		"suspended, no session yet":   suspendedProcess,
	} {
		if got := Status(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

func TestWhere(t *testing.T) {
	for host, want := range map[string]string{"": "in its terminal", "Zed": "in Zed", "SDK (Python)": "in SDK (Python)"} {
		if got := Where(&adapters.Owner{Host: host}); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

func TestTopic(t *testing.T) {
	s := adapters.Session{Topic: adapters.Topic{FirstPrompt: "first", LastPrompt: "last"}}
	if got := Topic(s.Topic); got != "last" {
		t.Errorf("got %q", got)
	}
	s.Title = " \x1b[1mNamed\x1b[0m "
	if got := Topic(s.Topic); got != "Named" {
		t.Errorf("got %q", got)
	}
	for folder, want := range map[string]string{"/src/shop/1": "shop/1", "/src/shop/.claude/worktrees/2/": "shop/2", "/1/2": "2", "/": "/", "/src/2048b": "2048b",
		"/src/日本": "日本"} {
		if got := Project(folder); filepath.ToSlash(got) != want {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
	}
	if got := Project("/home/dev/" + strings.Repeat("x", 3) + "/"); got != "xxx" {
		t.Errorf("got %q", got)
	}
}

// TestDoingWithoutMarks: the beginning of a reply has no marks of Markdown; a command keeps its own.
func TestDoingWithoutMarks(t *testing.T) {
	for doing, want := range map[string]string{"## What I found\n\n`next()` **never** resets": "What I found next() never resets"} {
		if got := Doing(adapters.Session{State: adapters.State{Status: adapters.Idle}, Topic: adapters.Topic{Doing: doing}}, time.Now()); got != want {
			t.Errorf("%q: %q, want %q", doing, got, want)
		}
	}
	const command = "echo `date` > **/x # now"
	for _, s := range []adapters.Status{adapters.Working, adapters.Waiting} {
		if got := Doing(adapters.Session{State: adapters.State{Status: s}, Topic: adapters.Topic{Doing: command}}, time.Now()); got != command {
			t.Errorf("%s: %q", s, got)
		}
	}
}

func TestCost(t *testing.T) {
	for want, c := range map[string]struct {
		usd        float64
		known, all int
	}{"$1.20": {1.2, 2, 2}, "at least $1.20": {1.2, 1, 2}, "–": {0, 0, 2}} {
		if got := Cost(c.usd, c.known, c.all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Cost(0.001, 1, 2); got != "–" { // "at least $0.00" says nothing
		t.Errorf("%q", got)
	}
}

// TestStoppedBy: the words tell a person how a session ended, and no time that is too short to notice.
func TestStoppedBy(t *testing.T) {
	for want, c := range map[string]struct {
		by      proc.Signal
		through string
		took    time.Duration
	}{
		"stopped at once: it ended when asked to (SIGTERM)":    {proc.Terminate, "", 7 * time.Millisecond},
		"stopped after 2s: it ended when interrupted (SIGINT)": {proc.Interrupt, "", 1900 * time.Millisecond},
		"stopped after 7s: it had to be killed":                {proc.Kill, "", 7 * time.Second},
		"stopped at once":                                      {},
		"office stopped it at once":                            {0, "office", 40 * time.Millisecond},
		"the shared process 4711 stopped it after 3s":          {0, "the shared process 4711", 3 * time.Second},
		"office stopped it after 1m5s":                         {0, "of\x1b[31mfice", 65 * time.Second},
	} {
		if got := StoppedBy(c.by, c.through, c.took); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStatusOfUnread: a process of an agent whose files are not read is "not read", a row that a program lists has its status.
func TestStatusOfUnread(t *testing.T) {
	adapters.SetUnread([]adapters.Unread{{Name: "mine", Title: "Mine", Programs: []string{"mine"}}})
	t.Cleanup(func() { adapters.SetUnread(nil) })
	for id, want := range map[string]string{"process-1-2": "not read", "l-1": "not read", "mine:a": "unknown"} {
		if got := Status(adapters.Session{ID: id, Agent: "mine", State: adapters.State{Status: adapters.Unknown}}); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// TestCutPath: the longest path of a line is shortened in its middle, so that the name of the file stays; what has no path, or room for none, is cut at its end.
func TestCutPath(t *testing.T) {
	edit := "Edit /home/dev/projects/rollcall/internal/parser/lexer/token_buffer.go"
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{edit, 80, edit}, {edit, 40, "Edit /home/dev/…er/lexer/token_buffer.go"}, {edit, 12, "Edit /home/…"}, {"go test ./... and more words", 12, "go test ./.…"},
		{`Edit C:\Users\dev\projects\rollcall\parser\token_buffer.go`, 36, `Edit C:\Users\…arser\token_buffer.go`},
		{"Read /srv/データ/とても長いフォルダ/ファイル.go", 30, "Read /srv/デ…ルダ/ファイル.go"},
	} {
		if got := CutPath(tt.text, tt.width); got != tt.want || Width(got) > tt.width {
			t.Errorf("%q in %d cells is %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

// TestFailedWhy: the reason of a failed turn is what its adapter has in parentheses at the end of the evidence, and nothing else that stands in some.
func TestFailedWhy(t *testing.T) {
	for evidence, want := range map[string]string{
		"thread 1: idle; last turn failed 14:02:11 (stream disconnected (retry 5))": "stream disconnected (retry 5)",
		"last turn ended 14:02:11 with APIError (overloaded)":                       "overloaded",
		"process 7: open; its last message is an error (no credit left)":            "no credit left",
		"last turn failed 14:02:11":                                                 "", "registry 77.json: idle (a shell command runs in the background)": "",
	} {
		s := adapters.Session{
			State: adapters.State{Status: adapters.Idle, Outcome: adapters.Failed, Evidence: evidence},
			Topic: adapters.Topic{Title: "Add limits", Doing: "I begin."},
		}
		if got := FailedWhy(&s.State); got != want {
			t.Errorf("%q: %q, want %q", evidence, got, want)
		}
		if got := Doing(s, time.Time{}); got != cmp.Or(want, "I begin.") {
			t.Errorf("%q: it does %q", evidence, got)
		}
		if s.Outcome = adapters.Completed; FailedWhy(&s.State) != "" {
			t.Errorf("%q: the turn did not fail", evidence)
		}
	}
}
