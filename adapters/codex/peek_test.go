package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// peekAt peeks into a rollout with this text.
func peekAt(t testing.TB, text string, s adapters.Session, n int) []adapters.Message {
	t.Helper()
	m, err := tryPeek(t, text, s, n)
	must.Do(t, err)
	return m
}

func tryPeek(t testing.TB, text string, s adapters.Session, n int) ([]adapters.Message, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	s.Files = []string{path}
	return New(adapters.Config{Home: t.TempDir()}).Peek(t.Context(), s, n)
}

// gists are messages in short, without keys.
func gists(messages []adapters.Message) []string {
	out := []string{}
	for _, m := range messages {
		who := string(m.Role)
		if m.Role == adapters.FromTool {
			who = m.Tool + " " + string(m.State)
		}
		out = append(out, who+": "+m.Text)
	}
	return out
}

func (s *script) custom(id, input string) *script {
	return s.item(fmt.Sprintf(`{"type":"custom_tool_call","name":"apply_patch","input":%q,"call_id":%q}`, input, id))
}

// everything is a rollout with each kind of record, of 0.142.
func everything() *script {
	s := newScript(threadA, "0.142.5").start("t1").context("gpt-5.5")
	s.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}`)
	s.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}`)
	s.prompt("fix it")
	s.event(`{"type":"agent_reasoning","text":"hm"}`)
	s.answer("I look.")
	s.call("c1", `{"cmd":"make","sandbox_permissions":"require_escalated"}`).call("c2", `{"command":["bash","-lc","ls | wc"]}`)
	s.result("c2", "Chunk ID: 1\nProcess exited with code 0\nOutput:\n3").result("c1", "Process exited with code 2\nOutput:\n")
	s.custom("c3", "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** End Patch").result("c3", `{"output":"Success","metadata":{"exit_code":0}}`)
	s.call("c4", `{"command":["cat","x y"]}`).result("c4", `{"output":"`+strings.Repeat("n", 3000)+`","metadata":{"exit_code":1,"duration_seconds":0.1}}`)
	s.item(`{"type":"web_search_call","id":"ws1","status":"completed","action":{"type":"search","query":"go fsnotify"}}`)
	s.item(`{"type":"local_shell_call","call_id":"c5","status":"completed","action":{"type":"exec","command":["ls","-l"]}}`).result("c5", "aborted by user after 2.1s")
	s.event(`{"type":"context_compacted"}`)
	s.add(`{"timestamp":%q,"type":"compacted","payload":{"message":"long summary"}}`, s.now())
	s.answer("Both say the same.").answer("Both say the same.")
	s.tokens(100, 40, 10).done("t1")
	s.start("t2").prompt("# Context from my IDE setup:\nx\n## My request for Codex:\nand now?")
	s.call("c6", `{"cmd":"sleep 60"}`)
	s.event(`{"type":"turn_aborted","turn_id":"t2","reason":"interrupted"}`)
	s.start("t3").prompt("again")
	s.event(`{"type":"error","message":"stream disconnected"}`)
	s.event(`{"type":"task_complete","turn_id":"t3","error":{"message":"stream disconnected"}}`)
	s.event(`{"type":"thread_rolled_back","num_turns":1}`)
	s.start("t4").prompt("go on")
	s.item(`{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"a\"}]}","call_id":"c7"}`)
	return s
}

var everythingSaid = []string{
	"user: fix it",
	"assistant: I look.",
	"exec_command failed: make",
	"exec_command done: ls | wc",
	"apply_patch done: a.go b.go",
	"exec_command failed: cat x y",
	"web_search done: go fsnotify",
	"local_shell failed: ls -l",
	"system: Conversation compacted",
	"assistant: Both say the same.",
	"assistant: Both say the same.",
	"user: and now?",
	"exec_command failed: sleep 60",
	"system: Interrupted by the user",
	"user: again",
	"system: stream disconnected",
	"system: The turns before this were rolled back",
	"user: go on",
	`update_plan running: {"plan":[{"step":"a"}]}`,
}

func TestPeek(t *testing.T) {
	text := everything().text()
	if d := cmp.Diff(everythingSaid, gists(peekAt(t, text, adapters.Session{State: adapters.State{Status: adapters.Working}}, 100))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	whole := peekAt(t, text, adapters.Session{}, 100)
	for n := 1; n <= len(whole); n++ {
		if d := cmp.Diff(whole[len(whole)-n:], peekAt(t, text, adapters.Session{}, n)); d != "" {
			t.Errorf("the last %d (-want +got):\n%s", n, d)
		}
	}
}

// While a rollout grows no message changes its key, and none is lost.
func TestPeekKeysStay(t *testing.T) {
	lines := everything().lines
	final := peekAt(t, everything().text(), adapters.Session{}, 100)
	for _, n := range []int{3, 100} {
		var known, want []string
		for i := range lines {
			for _, cut := range []string{lines[i][:len(lines[i])/2], lines[i], lines[i] + "\n"} {
				text := strings.Join(append(append([]string{}, lines[:i]...), cut), "\n")
				for _, m := range peekAt(t, text, adapters.Session{State: adapters.State{Status: adapters.Working}}, n) {
					if !slices.Contains(known, m.Key) {
						known = append(known, m.Key)
					}
				}
			}
		}
		for _, m := range final {
			want = append(want, m.Key)
		}
		if d := cmp.Diff(want, known); d != "" {
			t.Errorf("keys in the order in which they came, of the last %d (-want +got):\n%s", n, d)
		}
	}
}

func TestPeekPendingCalls(t *testing.T) {
	last := began.Add(5 * time.Second)
	for _, tt := range []struct {
		name, version string
		session       adapters.Session
		more          func(*script)
		want          adapters.ToolState
	}{
		{"works", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Working}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolRunning},
		{"waits", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Waiting}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolRunning},
		{"died", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Stopped}, Times: adapters.Times{LastActivityAt: last}}, nil, adapters.ToolFailed},
		{"goes on since", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Stopped}, Times: adapters.Times{LastActivityAt: began}}, nil, adapters.ToolRunning},
		{"turn over", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Idle}}, func(s *script) { s.done("t1") }, adapters.ToolFailed},
		{"next turn", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Working}}, func(s *script) { s.start("t2") }, adapters.ToolFailed},
		{"steered", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Working}}, func(s *script) { s.prompt("also") }, adapters.ToolRunning},
		{"declined", "0.169.0", adapters.Session{State: adapters.State{Status: adapters.Working}}, func(s *script) {
			s.event(`{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"declined"}}`).result("c1", "ok")
		}, adapters.ToolFailed},
	} {
		s := newScript(threadA, tt.version).prompt("go").call("c1", `{"cmd":"make"}`)
		if tt.more != nil {
			tt.more(s)
		}
		if m := peekAt(t, s.text(), tt.session, 100); m[1].State != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, m[1].State, tt.want)
		}
	}
}

func TestOutcomeOfCalls(t *testing.T) {
	for output, want := range map[string]adapters.ToolState{
		`"Wall time: 4.8 seconds\naborted by user"`:                        adapters.ToolFailed, // 0.80.0
		`"Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1"`:      adapters.ToolDone,
		`"Exit code: 1\nWall time: 0 seconds\nOutput:\n"`:                  adapters.ToolFailed,
		`"Chunk ID: a\nWall time: 1\nProcess running with session ID 7"`:   adapters.ToolDone,
		`"Chunk ID: a\nProcess exited with code -1\nOutput:\n"`:            adapters.ToolFailed,
		`"{\"output\":\"x\",\"metadata\":{\"exit_code\":127}}"`:            adapters.ToolFailed, // 0.45.0
		`"{\"output\":\"x\"}"`:                                             adapters.ToolDone,
		`{"content":"x","success":false}`:                                  adapters.ToolFailed,
		`{"content":"x","success":true}`:                                   adapters.ToolDone,
		`[{"type":"input_text","text":"exec_command failed for make: x"}]`: adapters.ToolFailed,
		`"a file\nof seven\nlines\nor\nmore\nwith\naborted at the last"`:   adapters.ToolDone,
		`"exec command rejected by user"`:                                  adapters.ToolFailed,
		`null`:                                                             adapters.ToolDone,
	} {
		if got := outcome([]byte(output)); got != want {
			t.Errorf("%s: %s, want %s", output, got, want)
		}
	}
}

// A sub-agent's rollout begins with its parent's records.
func TestPeekLeavesOutInheritedRecords(t *testing.T) {
	s := newScript(threadA, "0.169.0", `"subagent_history_start_ordinal":3`)
	for i, text := range []string{"parent's", "parent's too", "own", "own too"} {
		s.add(`{"timestamp":%q,"ordinal":%d,"type":"event_msg","payload":{"type":"user_message","message":%q}}`, s.now(), i+1, text)
	}
	want := []string{"user: own", "user: own too"}
	if d := cmp.Diff(want, gists(peekAt(t, s.text(), adapters.Session{}, 100))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPeekBadInput(t *testing.T) {
	good := newScript(threadA, "0.169.0").prompt("one")
	huge := newScript(threadA, "0.142.5").prompt("one").call("c1", `{"cmd":"make"}`).result("c1", strings.Repeat("y", 5<<20))
	long := strings.Repeat("x", adapters.MaxText+5000)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{}},
		{"garbage", good.lines[0] + "\n\nnot JSON\n[]\n{\"type\":7}\n" + good.lines[1] + "\n{}\n\x00\x00\n", []string{"user: one"}},
		{"cut off", good.text() + `{"type":"event_msg","payload":{"type":"user_message","message":"tw`, []string{"user: one"}},
		{"odd payloads", good.event(`7`).event(`{"type":"user_message","message":null}`).item(`{"type":"function_call"}`).text(),
			[]string{"user: one", "function running: "}},
		{"a long output", huge.text(), []string{"user: one", "exec_command done: make"}},
		{"long text", newScript(threadA, "0.137.0").prompt(long).text(), []string{"user: " + adapters.Cut(long)}},
	} {
		if d := cmp.Diff(tt.want, gists(peekAt(t, tt.text, adapters.Session{State: adapters.State{Status: adapters.Working}}, 100))); d != "" {
			t.Errorf("%s (-want +got):\n%.2000s", tt.name, d)
		}
	}
}

func TestPeekProblems(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir()})
	dir := t.TempDir()
	for _, files := range [][]string{{filepath.Join(dir, "gone.jsonl")}, {dir}, nil} {
		var p *adapters.Problem
		if _, err := a.Peek(t.Context(), adapters.Session{ID: "s", Files: files}, 5); !errors.As(err, &p) || !errors.Is(err, adapters.ErrUnreadable) {
			t.Errorf("%v: %v", files, err)
		}
	}
	if _, err := a.Peek(t.Context(), adapters.Session{ID: "s", Files: []string{write(t, filepath.Join(dir, "old.jsonl"), oldForm)}}, 5); !errors.Is(err, adapters.ErrFormat) {
		t.Errorf("a rollout of Codex 0.31: %v", err)
	}
	path := filepath.Join(dir, "r.jsonl")
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("{}\n", 1<<20)), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Peek(ctx, adapters.Session{Files: []string{path}}, 5); !errors.Is(err, adapters.ErrTimeout) {
		t.Errorf("cancelled: %v", err)
	}
	torn := filepath.Join(dir, "r.jsonl.zst")
	must.Do(t, os.WriteFile(torn, pack(t, everything().text())[:100], 0o600))
	if m, err := a.Peek(t.Context(), adapters.Session{Files: []string{torn}}, 5); err == nil {
		t.Errorf("half of a compressed rollout gave %v", gists(m))
	}
}

func pack(t testing.TB, text string) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	must.Do(t, err)
	defer e.Close()
	return e.EncodeAll([]byte(text), nil)
}

// A compressed rollout says the same, under the same keys.
func TestPeekCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl.zst")
	store := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, pack(t, text), 0o600))
	}
	peek := func(n int) []adapters.Message {
		t.Helper()
		m, err := New(adapters.Config{Home: t.TempDir()}).Peek(t.Context(), adapters.Session{Files: []string{path}}, n)
		must.Do(t, err)
		return m
	}
	text := everything().text()
	store(text)
	if d := cmp.Diff(peekAt(t, text, adapters.Session{}, 100), peek(100)); d != "" {
		t.Errorf("(-plain +compressed):\n%s", d)
	}
	s := newScript(threadA, "0.169.0").prompt("first")
	for i := range 90 {
		s.answer(fmt.Sprint(i)).result("x", strings.Repeat("z", 1<<20))
	}
	store(s.text())
	m := peek(1000)
	if last := m[len(m)-1]; last.Text != "89" || m[0].Text != "first" || len(m) != 91 {
		t.Errorf("%d messages from %+v to %+v", len(m), m[0], last)
	}
	if m := peek(5); len(m) != 5 || m[0].Text != "85" {
		t.Errorf("%v", gists(m))
	}
}

func FuzzPeek(f *testing.F) {
	f.Add("{\"type\":\"session_meta\"\x1b,\"payload\":{}}\n{}\n", 3) // a damaged first line
	f.Add(everything().text(), 5)
	f.Add("{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"\\ud800\xff\"}}", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n %= 50
		messages, err := tryPeek(t, text, adapters.Session{}, n)
		first, _, whole := strings.Cut(text, "\n")
		var head facts
		if head.applyHead([]byte(first)); whole && !head.known && errors.Is(err, adapters.ErrFormat) {
			return // its first line is damaged, or that of another version
		}
		must.Do(t, err)
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

// oldForm is a rollout as Codex wrote it before 0.32, without an envelope for its records.
const oldForm = `{"id":"x","timestamp":"2025-08-27T20:34:17.000Z","instructions":null,"git":{"branch":"main"}}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"look for the walrus"}]}
`
