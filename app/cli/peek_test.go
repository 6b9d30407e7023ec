package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// peekingAgent is an agent in memory whose conversations can be shown.
type peekingAgent struct {
	*agent
	mu      sync.Mutex
	said    []adapters.Message
	failing error
	hang    bool
	peeks   int // calls of Peek
}

func (a *peekingAgent) Peek(ctx context.Context, _ adapters.Session, n int) ([]adapters.Message, error) {
	if a.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.peeks++
	return append([]adapters.Message{}, a.said[max(0, len(a.said)-n):]...), a.failing
}

// awaitPeek waits until the conversation has been read n more times.
func (a *peekingAgent) awaitPeek(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.peeks
	}
	before := count()
	eventually.True(t, fmt.Sprintf("%d more questions for the conversation", n), func() bool { return count() >= before+n })
}

func (a *peekingAgent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.agent.Discover(ctx, q)
}

// say adds messages, or puts them in the place of those with the same key.
func (a *peekingAgent) say(messages ...adapters.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := append([]adapters.Message{}, a.said...)
next:
	for _, m := range messages {
		for i := range all {
			if all[i].Key == m.Key {
				all[i] = m
				continue next
			}
		}
		all = append(all, m)
	}
	a.said = all
}

func (a *peekingAgent) becomes(s ...adapters.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.Sessions = s
}

// at is a time shortly before now.
func at(second int) time.Time { return now.Add(time.Duration(second-60) * time.Second) }

func conversation() []adapters.Message {
	return []adapters.Message{
		{Key: "k1", Role: adapters.FromUser, Text: "Fix the flaky parser test.\n\n  keep it small", At: at(1)},
		{Key: "k2", Role: adapters.FromAgent, Text: "I will look at it.", At: at(2)},
		{Key: "k3", Role: adapters.FromTool, Tool: "Bash", State: adapters.ToolFailed, Text: "go test\n./parser", At: at(3)},
		{Key: "k4", Role: adapters.FromTool, Tool: "Edit", State: adapters.ToolDone, Text: "/p/lex.go"},
		{Key: "k5", Role: adapters.FromNote, Text: "Conversation compacted", At: at(5)},
		{Key: "k6", Role: adapters.FromTool, Tool: "Bash", State: adapters.ToolRunning, Text: "make", At: at(6)},
		{Key: "k7", Role: adapters.FromUser, Text: "and now?", At: now.Add(-50 * time.Hour)},
	}
}

func talking(messages ...adapters.Message) *peekingAgent {
	return &peekingAgent{agent: claude(full()), said: messages}
}

func TestPeekForPeople(t *testing.T) {
	clock := func(second int) string { return at(second).Local().Format("15:04:05") }
	want := strings.Join([]string{
		clock(1) + "  You", "  Fix the flaky parser", "  test.", "", "    keep it small", "",
		clock(2) + "  Claude Code", "  I will look at it.", "",
		clock(3) + "  x Bash  go tes…",
		"+ Edit  /p/lex.go",
		clock(5) + "  * Conversation…",
		clock(6) + "  > Bash  make", "",
		now.Add(-50*time.Hour).Local().Format("2006-01-02 15:04") + "  You", "  and now?", "",
	}, "\n")
	r := runOn(t.Context(), t, Streams{Width: 25}, deps(talking(conversation()...)), "peek", "9830")
	if d := cmp.Diff(want, r.out); d != "" || r.code != Done || r.err != "" {
		t.Errorf("%d %s (-want +got):\n%s", r.code, r.err, d)
	}
	r = run(t, deps(talking(conversation()...)), "peek", "9830", "-n", "3")
	if got := strings.Count(r.out, "\n"); got != 5 || !strings.Contains(r.out, "> Bash  make\n") {
		t.Errorf("the last 3: %q", r.out)
	}
}

// peekKeys are the keys of a message, written by hand from the contract.
var peekKeys = []string{"at", "key", "role", "state", "text", "tool"}

func TestPeekJSON(t *testing.T) {
	r := run(t, deps(talking(conversation()...)), "peek", "9830", "--json")
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines: %s", len(lines), r.out)
	}
	if d := cmp.Diff(peekKeys, keys(t, lines[2])); d != "" {
		t.Errorf("keys (-promised +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"key", "role", "state", "text", "tool"}, keys(t, lines[3])); d != "" {
		t.Errorf("an unknown time is not left out:\n%s", d)
	}
	var got map[string]string
	must.Do(t, json.Unmarshal([]byte(lines[2]), &got))
	want := map[string]string{"key": "k3", "role": "tool", "tool": "Bash", "state": "failed", "text": "go test\n./parser", "at": at(3).UTC().Format(time.RFC3339)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPeekExitCodes(t *testing.T) {
	broken := talking(conversation()[:2]...)
	broken.failing = adapters.Unreadable("/home/dev/x.jsonl", fs.ErrPermission)
	two := claude(full(), simple("98300000", agentname.ClaudeCode, adapters.Idle, 0))
	for _, tt := range []struct {
		deps     Deps
		args     string
		code     int
		out, err string
	}{
		{deps(talking(conversation()...)), "peek 9830", 0, "You", ""},
		{deps(talking()), "peek 9830", 0, "", "no messages yet"},
		{deps(talking()), "peek", 2, "", "takes one session id"},
		{deps(talking()), "peek a b", 2, "", "takes one session id"},
		{deps(talking()), "peek 9830 -n 0", 2, "", "from 1 to 10000"},
		{deps(talking()), "peek 9830 -n 10001", 2, "", "from 1 to 10000"},
		{deps(&peekingAgent{agent: two}), "peek 983", 2, "", "98300000"},
		{deps(talking()), "peek nope", 4, "", "no such session"},
		{deps(claude(full())), "peek 9830", 1, "", "can't be shown"},
		{deps(broken), "peek 9830", 1, "I will look at it.", "give your user read permission"},
	} {
		r := run(t, tt.deps, strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.err, tt.err) || !strings.Contains(r.out, tt.out) || tt.out == "" && r.out != "" {
			t.Errorf("rollcall %s: %+v, want %d, %q and %q", tt.args, r, tt.code, tt.out, tt.err)
		}
	}
}

func TestPeekHostileText(t *testing.T) {
	m := adapters.Message{Key: hostile, Role: adapters.FromUser, Text: hostile, Tool: hostile, State: hostile}
	all := []adapters.Message{m}
	for i, role := range []adapters.Role{adapters.FromAgent, adapters.FromTool, adapters.FromNote, hostile} {
		m.Key, m.Role = hostile+string(rune('a'+i)), role
		all = append(all, m)
	}
	for _, args := range []string{"peek 9830", "peek 9830 --json", "peek 9830 -f", "peek 9830 -f --json"} {
		a := talking(all...)
		s := full()
		s.Status, s.Outcome = adapters.Stopped, adapters.Completed
		a.becomes(s)
		r := runOn(t.Context(), t, Streams{Width: 40}, deps(a), strings.Fields(args)...)
		if r.code != Done || r.out == "" {
			t.Errorf("%s: %+v", args, r)
		}
		for _, c := range r.out + r.err {
			if c != '\n' && (c < 0x20 || c >= 0x7f && c <= 0x9f || c == 0x202e || c == 0x2028) {
				t.Errorf("%s prints %U: %q", args, c, r.out)
				break
			}
		}
	}
}

func TestPeekColour(t *testing.T) {
	d := deps(talking(conversation()...))
	painted := runOn(t.Context(), t, Streams{Color: true, Width: 60}, d, "peek", "9830").out
	plain := runOn(t.Context(), t, Streams{Width: 60}, d, "peek", "9830").out
	if !strings.Contains(painted, "\x1b[31m") || strings.Contains(plain, "\x1b") || present.Text(painted) != present.Text(plain) {
		t.Errorf("%q\n%q", painted, plain)
	}
}

// followed runs peek --follow and gives its lines as they are printed.
type followed struct {
	t     *testing.T
	lines chan string
	done  chan result
	stop  context.CancelFunc
	out   *io.PipeReader
}

func startFollow(t *testing.T, a adapters.Adapter, args ...string) *followed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	f := &followed{t: t, lines: make(chan string, 1000), done: make(chan result, 1), stop: cancel, out: r}
	go func() {
		res := runOn(ctx, t, Streams{Out: w}, deps(a), append([]string{"peek", "9830", "--follow"}, args...)...)
		w.Close()
		f.done <- res
	}()
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	t.Cleanup(cancel)
	return f
}

// next skips to the line that holds text, and returns what was skipped.
func (f *followed) next(text string) (skipped []string) {
	f.t.Helper()
	limit := time.After(eventually.Limit)
	for {
		select {
		case line, ok := <-f.lines:
			if !ok {
				f.t.Fatalf("it ended before %q, after %q", text, skipped)
			}
			if strings.Contains(line, text) {
				return skipped
			}
			skipped = append(skipped, line)
		case <-limit:
			f.t.Fatalf("no %q; got %q", text, skipped)
		}
	}
}

func (f *followed) ended() (result, []string) {
	f.t.Helper()
	var rest []string
	select {
	case r := <-f.done:
		for line := range f.lines {
			rest = append(rest, line)
		}
		return r, rest
	case <-time.After(eventually.Limit):
		f.t.Fatal("it does not end")
		return result{}, nil
	}
}

func TestPeekFollow(t *testing.T) {
	a := talking(conversation()[:2]...)
	f := startFollow(t, a)
	f.next("Fix the flaky")
	f.next("I will look at it.")
	call := conversation()[5]
	a.say(call)
	f.next("> Bash  make")
	call.State = adapters.ToolDone
	answer := adapters.Message{Key: "k8", Role: adapters.FromAgent, Text: "It is"}
	a.say(call, answer)
	f.next("+ Bash  make")
	for _, text := range []string{"It is fi", "It is fixed."} { // while it grows nothing is printed
		answer.Text = text
		a.say(answer)
		a.awaitPeek(t, 1)
	}
	for _, line := range f.next("It is fixed.") {
		if strings.Contains(line, "It is") {
			t.Errorf("while the answer grew it printed %q", line)
		}
	}
	answer.Text += " And tested."
	a.say(answer)
	s := full()
	s.Status, s.Outcome = adapters.Stopped, adapters.Died
	a.becomes(s)
	r, rest := f.ended()
	if r.code != Done || !strings.Contains(r.err, "the session ended: died in mid-turn") {
		t.Errorf("%+v", r)
	}
	text := strings.Join(rest, "\n")
	if !strings.Contains(text, "And tested.") || strings.Contains(text, "make") || strings.Contains(text, "Fix the flaky") {
		t.Errorf("then it printed %q", text)
	}
}

func TestPeekFollowCatchesUp(t *testing.T) {
	a := talking(conversation()[:1]...)
	f := startFollow(t, a, "--json", "-n", "1")
	f.next(`"k1"`)
	var many []adapters.Message
	for i := range 500 { // more than is asked for at once
		many = append(many, adapters.Message{Key: "m" + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10)), Role: adapters.FromUser, Text: "x"})
	}
	a.say(many...)
	if skipped := f.next(`"m000"`); len(skipped) > 0 {
		t.Errorf("first came %q", skipped)
	}
	if skipped := f.next(`"m499"`); len(skipped) != 498 {
		t.Errorf("%d lines between the first and the last", len(skipped))
	}
	f.stop()
	if r, _ := f.ended(); r.code != Interrupted || r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestPeekFollowEnds(t *testing.T) {
	t.Run("no longer listed", func(t *testing.T) {
		a := talking(conversation()[:1]...)
		f := startFollow(t, a)
		f.next("Fix the flaky")
		a.becomes()
		if r, _ := f.ended(); r.code != Done || !strings.Contains(r.err, "no longer listed by Claude Code") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("reader gone", func(t *testing.T) {
		gone := &fs.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}
		r := runOn(t.Context(), t, Streams{Out: brokenPipe{gone}}, deps(talking(conversation()...)), "peek", "9830", "-f")
		if r.code != Done || r.err != "" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("fails and comes back", func(t *testing.T) {
		a := talking(conversation()[:1]...)
		a.failing = adapters.Unreadable("/x.jsonl", fs.ErrPermission)
		f := startFollow(t, a)
		f.next("Fix the flaky")
		a.awaitPeek(t, 2) // the problem is reported once
		a.mu.Lock()
		a.failing = nil
		a.mu.Unlock()
		a.say(conversation()[1])
		f.next("I will look at it.")
		f.stop()
		if r, _ := f.ended(); r.code != Interrupted || strings.Count(r.err, "/x.jsonl: unreadable") != 1 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("interrupted while it hangs", func(t *testing.T) {
		a := talking()
		a.hang = true
		for _, args := range [][]string{{"peek", "9830"}, {"peek", "9830", "-f"}} {
			ctx, cancel := context.WithCancel(t.Context())
			d := deps(a)
			d.Limit = time.Minute
			time.AfterFunc(50*time.Millisecond, cancel)
			r := runOn(ctx, t, Streams{}, d, args...)
			if r.code != Interrupted || r.out != "" || r.err != "" {
				t.Errorf("%v: %+v", args, r)
			}
		}
	})
}
