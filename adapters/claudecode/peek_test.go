package claudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// spokenAt is the time of the records below, a second after one another.
var spokenAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// chat writes records as Claude Code does.
type chat struct {
	lines []string
}

func (c *chat) add(kind, rest string) *chat {
	n := len(c.lines)
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":"x","type":%q,"uuid":"u%d","timestamp":%q%s}`,
		kind, n, spokenAt.Add(time.Duration(n)*time.Second).Format(time.RFC3339Nano), rest))
	return c
}

func (c *chat) user(content string) *chat {
	return c.add("user", `,"isSidechain":false,"message":{"role":"user","content":`+content+`}`)
}

func (c *chat) answer(message, content string) *chat {
	return c.add("assistant", fmt.Sprintf(`,"isSidechain":false,"message":{"id":%q,"model":"m","content":[%s]}`, message, content))
}

func (c *chat) call(message, id, name, input string) *chat {
	return c.answer(message, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input))
}

func (c *chat) result(id, more string) *chat {
	return c.user(fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":"out"%s}]`, id, more))
}

func (c *chat) text() string { return strings.Join(c.lines, "\n") + "\n" }

// peekAt peeks into a file with this text.
func peekAt(t testing.TB, text string, s adapters.Session, n int) []adapters.Message {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	s.Files = []string{"/x/1.json", path}
	m, err := New(adapters.Config{Home: t.TempDir()}).Peek(t.Context(), s, n)
	must.Do(t, err)
	return m
}

// gists are messages in short: "u0 user: text", "t1 Bash done: ls".
func gists(messages []adapters.Message) []string {
	out := []string{}
	for _, m := range messages {
		who := string(m.Role)
		if m.Role == adapters.FromTool {
			who = m.Tool + " " + string(m.State)
		}
		out = append(out, m.Key+" "+who+": "+m.Text)
	}
	return out
}

// everything is a transcript with each kind of record.
func everything() *chat {
	c := &chat{}
	c.user(`"fix it"`)
	c.add("user", `,"isMeta":true,"message":{"role":"user","content":"Caveat: injected"}`)
	c.user(`[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"look at this"},{"type":"image","source":{}}]`)
	c.answer("m1", `{"type":"thinking","thinking":"hm"}`)
	c.answer("m1", `{"type":"text","text":"I look."}`)
	c.call("m1", "t1", "Bash", `{"command":"go test\n./...","description":"run"}`)
	c.call("m1", "t2", "Read", `{"file_path":"/p/a.go"}`)
	c.result("t2", "")
	c.result("t1", `,"is_error":true`)
	c.add("assistant", `,"isSidechain":true,"message":{"id":"s1","content":[{"type":"text","text":"of a sub-agent"}]}`)
	c.add("system", `,"subtype":"api_error","level":"error","error":{"status":529,"error":{"error":{"message":"Overloaded"}}},"retryAttempt":1,"maxRetries":10`)
	c.add("system", `,"subtype":"api_error","level":"error","error":{"status":529,"error":{"error":{"message":"Overloaded"}}},"retryAttempt":2,"maxRetries":10`)
	c.add("attachment", `,"isSidechain":false,"attachment":{"type":"queued_command","prompt":"also this","source_uuid":"q1","commandMode":"prompt"}`)
	c.add("attachment", `,"attachment":{"type":"queued_command","prompt":"<task-notification>x","source_uuid":"q2","origin":{"kind":"task-notification"}}`)
	c.answer("m2", `{"type":"text","text":"Both."},{"type":"text","text":"And more."},{"type":"tool_use","id":"t3","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}`)
	c.user(`[{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"[Request interrupted"},{"type":"text","text":"[Request interrupted by user for tool use]"}]`)
	c.user(`"<command-name>/review</command-name><command-args>12</command-args>"`)
	c.user(`"<local-command-stdout>done</local-command-stdout>"`)
	c.user(`"<bash-input>git status</bash-input>"`)
	c.user(`"<system-reminder>do</system-reminder>"`)
	c.call("m3", "t4", "Task", `{"description":"look around","prompt":"long"}`)
	c.add("system", `,"subtype":"compact_boundary","content":"Conversation compacted"`)
	c.add("user", `,"isCompactSummary":true,"message":{"role":"user","content":"This session is being continued"}`)
	c.add("assistant", `,"isApiErrorMessage":true,"message":{"id":"e1","model":"<synthetic>","content":[{"type":"text","text":"API Error: 500"}]}`)
	c.add("assistant", `,"message":{"id":"e2","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}`)
	c.add("system", `,"subtype":"informational","level":"warning","content":"Limit reached"`)
	c.add("system", `,"subtype":"informational","level":"info","content":"not of interest"`)
	c.add("system", `,"subtype":"turn_duration"`)
	c.call("m4", "t5", "mcp__db__query", `{"limit":3,"sql":"select 1"}`)
	c.call("m4", "t6", "TodoWrite", `{"todos":[{"content":"a"}]}`)
	return c
}

var everythingSaid = []string{
	"u0 user: fix it",
	"u2 user: look at this\n[image]",
	"u4 assistant: I look.",
	"t1 Bash failed: go test\n./...",
	"t2 Read done: /p/a.go",
	"u10 system: The request failed (529): Overloaded; try 2 of 10",
	"q1 user: also this",
	"u14 assistant: Both.",
	"u14#1 assistant: And more.",
	"t3 AskUserQuestion failed: Which?",
	"u15 system: Interrupted by the user",
	"u16 user: /review 12",
	"u18 user: !git status",
	"t4 Task failed: look around", // the conversation went on without a result
	"u21 system: Conversation compacted",
	"u23 system: API Error: 500",
	"u25 system: Limit reached",
	"t5 mcp__db__query running: select 1",
	`t6 TodoWrite running: {"todos":[{"content":"a"}]}`,
}

func TestPeek(t *testing.T) {
	text := everything().text()
	got := peekAt(t, text, adapters.Session{State: adapters.State{Status: adapters.Working}}, 100)
	if d := cmp.Diff(everythingSaid, gists(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if want := spokenAt.Add(5 * time.Second); !got[3].At.Equal(want) {
		t.Errorf("the call is of %v, want %v", got[3].At, want)
	}
	for n := 1; n <= len(everythingSaid); n++ {
		if d := cmp.Diff(everythingSaid[len(everythingSaid)-n:], gists(peekAt(t, text, adapters.Session{}, n))); d != "" {
			t.Errorf("the last %d (-want +got):\n%s", n, d)
		}
	}
	// Twice the same records are one conversation, as after a resume that copied.
	if d := cmp.Diff(everythingSaid, gists(peekAt(t, text+text, adapters.Session{}, 100))); d != "" {
		t.Errorf("written twice (-want +got):\n%s", d)
	}
}

// While a transcript grows no message changes its key, and none is lost.
func TestPeekKeysStay(t *testing.T) {
	lines := everything().lines
	for _, n := range []int{3, 100} {
		var known []string
		for i := range lines {
			for _, cut := range []string{lines[i][:len(lines[i])/2], lines[i], lines[i] + "\n"} {
				text := strings.Join(append(append([]string{}, lines[:i]...), cut), "\n")
				for _, m := range peekAt(t, text, adapters.Session{State: adapters.State{Status: adapters.Working}}, n) {
					if !strings.Contains(strings.Join(known, " "), m.Key+"|") {
						known = append(known, m.Key+"|")
					}
				}
			}
		}
		want := make([]string, len(everythingSaid))
		for i, s := range everythingSaid {
			key, _, _ := strings.Cut(s, " ")
			want[i] = key + "|"
		}
		if d := cmp.Diff(want, known); d != "" {
			t.Errorf("keys in the order in which they came, of the last %d (-want +got):\n%s", n, d)
		}
	}
}

// TestPeekPlan: a call that presents a plan says so.
func TestPeekPlan(t *testing.T) {
	c := (&chat{}).user(`"go"`).call("m1", "t1", "Bash", `{"command":"make"}`).call("m2", "t2", "ExitPlanMode", `{"plan":"# One\n\n1. two"}`)
	if m := peekAt(t, c.text(), adapters.Session{State: adapters.State{Status: adapters.Waiting}}, 100); m[1].Plan || !m[2].Plan || m[2].Text != "# One\n\n1. two" {
		t.Errorf("%+v", m)
	}
}

func TestPeekPendingCalls(t *testing.T) {
	c := (&chat{}).user(`"go"`).call("m1", "t1", "Bash", `{"command":"make"}`)
	last := spokenAt.Add(time.Second)
	for _, tt := range []struct {
		name    string
		session adapters.Session
		more    *chat
		want    adapters.ToolState
	}{
		{"works", adapters.Session{State: adapters.State{Status: adapters.Working}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolRunning},
		{"waits", adapters.Session{State: adapters.State{Status: adapters.Waiting}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolRunning},
		{"died", adapters.Session{State: adapters.State{Status: adapters.Stopped}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolFailed},
		{"resumed since", adapters.Session{State: adapters.State{Status: adapters.Stopped}, Times: adapters.Times{LastActivityAt: spokenAt.Add(-time.Hour)}}, nil, adapters.ToolRunning},
		{"asked anew", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).user(`"again"`), adapters.ToolFailed},
		{"another answer", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).answer("m2", `{"type":"text","text":"so"}`), adapters.ToolFailed},
		{"same answer", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).answer("m1", `{"type":"text","text":"so"}`), adapters.ToolRunning},
		{"queued meanwhile", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).add("attachment", `,"attachment":{"type":"queued_command","prompt":"also"}`), adapters.ToolRunning},
		{"notified", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).user(`"<task-notification>x</task-notification>"`), adapters.ToolFailed},
		{"command output", adapters.Session{State: adapters.State{Status: adapters.Working}}, (&chat{}).user(`"<local-command-stdout>x</local-command-stdout>"`), adapters.ToolRunning},
	} {
		text := c.text()
		if tt.more != nil {
			text += strings.ReplaceAll(tt.more.text(), `"u0"`, `"later"`)
		}
		if m := peekAt(t, text, tt.session, 100); m[1].State != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, m[1].State, tt.want)
		}
	}
}

func TestPeekBadInput(t *testing.T) {
	good := (&chat{}).user(`"one"`).answer("m1", `{"type":"text","text":"two"}`)
	long := strings.Repeat("x", adapters.MaxText+5000)
	hugeResult := `{"type":"user","uuid":"big","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"` +
		strings.Repeat("y", 9<<20) + `","is_error":true}]}}`
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{}},
		{"blank lines", "\n\n\n", []string{}},
		{"garbage between", good.lines[0] + "\nnot JSON\n[]\nnull\n{\"type\":7}\n\x00\x00\x00\n" + good.lines[1] + "\n", []string{"u0 user: one", "u1 assistant: two"}},
		{"NULs of a crash", good.lines[0] + "\n\x00\x00" + good.lines[1] + "\n", []string{"u0 user: one", "u1 assistant: two"}},
		{"cut off", good.text() + `{"type":"user","uuid":"u9","message":{"content":"thr`, []string{"u0 user: one", "u1 assistant: two"}},
		{"no last newline", good.lines[0], []string{"u0 user: one"}},
		{"windows line ends", strings.ReplaceAll(good.text(), "\n", "\r\n"), []string{"u0 user: one", "u1 assistant: two"}},
		{"no uuid", `{"type":"user","message":{"content":"x"}}`, []string{"@0 user: x"}},
		{"odd contents", (&chat{}).user(`7`).user(`[7,null,{"type":"text"},"x"]`).user(`{}`).answer("m", `{"type":"tool_use"}`).text(), []string{"u3  running: "}},
		{"a long result", (&chat{}).call("m1", "t1", "Bash", `{}`).text() + hugeResult + "\n", []string{"t1 Bash failed: "}},
		{"long text", (&chat{}).user(`"` + long + `"`).text(), []string{"u0 user: " + adapters.Cut(long)}},
	} {
		got := gists(peekAt(t, tt.text, adapters.Session{State: adapters.State{Status: adapters.Working}}, 100))
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%.2000s", tt.name, d)
		}
	}
}

func TestPeekProblems(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir()})
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder.jsonl")
	must.Do(t, os.Mkdir(folder, 0o700))
	for _, path := range []string{filepath.Join(dir, "gone.jsonl"), folder} {
		var p *adapters.Problem
		if _, err := a.Peek(t.Context(), adapters.Session{ID: "s", Files: []string{path}}, 5); !errors.As(err, &p) || p.Path != path || !errors.Is(err, adapters.ErrUnreadable) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if m, err := a.Peek(t.Context(), adapters.Session{ID: "s", Files: []string{"/x/12.json"}}, 5); m != nil || err != nil {
		t.Errorf("before the first prompt: %v, %v", m, err)
	}
	path := filepath.Join(dir, "s.jsonl")
	must.Do(t, os.WriteFile(path, bytes.Repeat([]byte("{}\n"), 1<<20), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Peek(ctx, adapters.Session{Files: []string{path}}, 5); !errors.Is(err, adapters.ErrTimeout) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzPeek(f *testing.F) {
	f.Add(everything().text(), 5)
	f.Add("{\"type\":\"user\",\"message\":{\"content\":\"\\ud800\xff\"}}", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n %= 50
		messages := peekAt(t, text, adapters.Session{}, n)
		if len(messages) > max(n, 0) {
			t.Fatalf("%d messages, asked for %d", len(messages), n)
		}
		for _, m := range messages {
			if len(m.Text) > adapters.MaxText || m.Key == "" || !utf8.ValidString(m.Text) || (m.Role == adapters.FromTool) != (m.State != "") {
				t.Fatalf("%+v", m)
			}
		}
	})
}
