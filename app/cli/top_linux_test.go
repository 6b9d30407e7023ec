package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/owned/marks"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// topAgent is an agent that writes each decision into a file, one line each.
type topAgent struct {
	mu sync.Mutex
	*asking
	log string
}

func (a *topAgent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asking.Discover(ctx, q)
}

func (a *topAgent) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.ID != "s1" {
		return nil, adapters.ErrAnswerElsewhere
	}
	return a.asking.Pending(ctx, s)
}

func (a *topAgent) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.OpenFile(a.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return adapters.Result{}, err
	}
	defer func() { _ = f.Close() }()
	fmt.Fprintln(f, d.Verdict, d.Answers)
	return a.asking.Answer(ctx, s, shown, d)
}

// TestTopProcess is `rollcall top` in a terminal of TestTop.
func TestTopProcess(t *testing.T) {
	text, n := os.Getenv("ROLLCALL_TEST_TOP"), os.Getenv("ROLLCALL_TEST_TOP_SESSIONS")
	if text == "" {
		t.Skip("it is a part of TestTop")
	}
	a := &topAgent{asking: asks(text), log: os.Getenv("ROLLCALL_TEST_TOP_LOG")}
	if strings.HasPrefix(text, "question") {
		r := &a.requests[0]
		r.Kind, r.CanAllow = adapters.AsksQuestion, false
		r.Questions = []adapters.Question{{Text: text, Options: []adapters.Option{{Label: "blue"}, {Label: "red"}}}}
	}
	count, _ := strconv.Atoi(n)
	for i := range count {
		s := simple(fmt.Sprintf("more-%03d", i), agentname.Codex, adapters.Working, time.Duration(i)*time.Second)
		s.Title = "evil \x1b]0;title\x07\x1b[31m\u202etext"
		a.roll.Sessions = append(a.roll.Sessions, s)
	}
	d := deps(a)
	state := os.Getenv("ROLLCALL_TEST_TOP_MARKS")
	d.Marks = func() (*marks.Marks, error) { return marks.In(state), nil }
	if count == 6 { // TestTopMarks
		markSome(t, d)
	}
	d.Getenv = os.Getenv
	os.Exit(Execute(t.Context(), []string{"top"}, Streams{Out: os.Stdout, Err: os.Stderr, In: os.Stdin, Width: 80, Color: os.Getenv("NO_COLOR") == ""}, d))
}

// topTerminal is a terminal of tmux in which top runs.
type topTerminal struct {
	t       *testing.T
	socket  string
	log     string
	program string // the command that runs top
}

func newTop80(t *testing.T, text string, sessions, width, height int) *topTerminal {
	t.Helper()
	must.Have(t, "tmux")
	dir := must.Get(os.MkdirTemp("", "top"))(t) // short: the path of a socket is limited
	must.Do(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	w := &topTerminal{t: t, socket: filepath.Join(dir, "tmux"), log: filepath.Join(dir, "answers")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", w.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	self := must.Get(os.Executable())(t)
	w.program = fmt.Sprintf("env LC_ALL=C.UTF-8 ROLLCALL_TEST_TOP=%q ROLLCALL_TEST_TOP_SESSIONS=%d ROLLCALL_TEST_TOP_LOG=%s ROLLCALL_TEST_TOP_MARKS=%s %s -test.run=^TestTopProcess$",
		text, sessions, w.log, filepath.Join(dir, "state"), self)
	w.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), w.program+"; echo ended $?; exec cat")
	return w
}

func (w *topTerminal) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", w.socket}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (w *topTerminal) keys(keys ...string) {
	w.t.Helper()
	w.tmux(append([]string{"send-keys"}, keys...)...)
}

func (w *topTerminal) shows(texts ...string) (screen string) {
	w.t.Helper()
	if !eventually.Happens(func() bool {
		screen = w.tmux("capture-pane", "-p")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}) {
		w.t.Fatalf("%q is not shown:\n%s", texts, screen)
	}
	return screen
}

func (w *topTerminal) answers() string {
	text, _ := os.ReadFile(w.log)
	return strings.TrimSpace(string(text))
}

// until presses a key until the text is shown: a key that comes before its request was visible for long enough does nothing.
func (w *topTerminal) until(key, text string) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		time.Sleep(answer.VisibleFor + 100*time.Millisecond) // what is tested: an earlier key begins the time again
		w.keys(key)
		if strings.Contains(w.shows(""), text) || eventuallyShown(w, text) {
			return
		}
	}
	w.t.Fatalf("%q is not shown after %s:\n%s", text, key, w.shows(""))
}

func eventuallyShown(w *topTerminal, text string) bool {
	for range 20 {
		if strings.Contains(w.tmux("capture-pane", "-p"), text) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// TestTop: the list and the request are usable in small and large terminals, and keys answer only what was read.
func TestTop(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			w := newTop80(t, "sudo rm -r /srv", 60, size[0], size[1])
			screen := w.shows("1 needs you, 60 working", ifelse(size[0] < phoneWidth, "!  s1", "! needs you"), "PROJECT")
			for line := range strings.Lines(screen) {
				if strings.ContainsAny(line, "\x1b\u202e\a") {
					t.Errorf("untrusted text: %q", line)
				}
			}
			w.keys("a") // shows it, and answers nothing
			w.shows("! runs as another user", "| sudo rm -r /srv", "read it first")
			w.until("a", "press Y to allow it once")
			if got := w.answers(); got != "" {
				t.Fatalf("answered too early: %s", got)
			}
			w.until("y", "61 working")
			if got := w.answers(); got != "allow_once []" && got != string(adapters.AllowOnce)+" []" {
				t.Errorf("answers %q", got)
			}
			w.shows("answered: taken")
			w.keys("End")
			w.shows("more-059")
			w.keys("Enter")
			w.shows("session        more-059")
			w.keys("q")
			w.shows("61 working")
			w.keys("q")
			w.shows("ended 0")
		})
	}
}

// TestTopLong: a request that does not fit must be read to its end before it is allowed; it can be denied at once. What is pasted answers nothing.
func TestTopLong(t *testing.T) {
	t.Parallel()
	w := newTop80(t, strings.Repeat("true && ", 400)+"rm -r /", 0, 40, 20)
	w.shows("1 needs you")
	w.keys("Enter")
	w.shows("more below")
	w.until("a", "read it to its end first")
	w.tmux("set-buffer", "ayd")
	w.tmux("paste-buffer", "-p")
	w.keys("End")
	w.shows("rm -r /")
	w.until("a", "press Y")
	if got := w.answers(); got != "" {
		t.Fatalf("answered too early: %s", got)
	}
	w.until("d", "1 working")
	if got := w.answers(); got != string(adapters.Deny)+" []" {
		t.Errorf("answers %q", got)
	}
}

func TestTopQuestion(t *testing.T) {
	t.Parallel()
	w := newTop80(t, "question: which color", 0, 80, 24)
	w.shows("1 needs you")
	w.keys("Enter")
	w.shows("2  red")
	w.until("7", "the options 1 to 2")
	w.until("2", "1 working")
	if got := w.answers(); got != string(adapters.Reply)+" [[red]]" {
		t.Errorf("answers %q", got)
	}
}

func TestTopNeedsATerminal(t *testing.T) {
	if r := run(t, deps(asks("ls")), "top"); r.code != Usage || !strings.Contains(r.err, "top needs a terminal; for programs and files there are rollcall list and rollcall watch") {
		t.Errorf("%d %s %s", r.code, r.out, r.err)
	}
}

// markSome pins one session, hides another and names a third.
func markSome(t *testing.T, d Deps) {
	t.Helper()
	m := must.Get(d.Marks())(t)
	for id, change := range map[string]func(*app.Mark){
		"more-004": func(m *app.Mark) { m.Pinned = true }, "more-002": func(m *app.Mark) { m.Hidden = true }, "s1": func(m *app.Mark) { m.Name = "Ship it" },
	} {
		must.Do(t, m.Change(t.Context(), agentname.Codex, id, change))
	}
}

// TestTopMarks: pinned sessions come first, in every order, hidden ones are left out until they are asked for, and names are shown.
func TestTopMarks(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			w := newTop80(t, "ls", 6, size[0], size[1])
			screen := w.shows("1 needs you", "1 hidden", "Ship it", "more-004")
			if lines := strings.Split(screen, "\n"); strings.Contains(screen, "more-002") || !strings.Contains(lines[3], "more-004") {
				t.Errorf("not the pinned one first, or the hidden one is shown:\n%s", screen)
			}
			w.keys("o", "o")
			screen = w.shows("sorted by project")
			if lines := strings.Split(screen, "\n"); !strings.Contains(lines[2], "more-004") {
				t.Errorf("by project not the pinned one first:\n%s", screen)
			}
			w.keys("h")
			w.shows("more-002")
			w.keys("?")
			w.shows("choose a session", "Ctrl-Z")
			w.keys("Escape")
			w.shows("more-002")
		})
	}
}

// TestTopFilter: a filter leaves the rows that have its words; keys that answer or stop are text while it is typed.
func TestTopFilter(t *testing.T) {
	t.Parallel()
	w := newTop80(t, "ls", 60, 80, 24)
	w.shows("1 needs you")
	w.keys("/", "5", "9", "s", "BSpace")
	screen := w.shows("/59", "Enter done", "1 with “59”", "more-059")
	if strings.Contains(screen, "more-001") {
		t.Errorf("other rows are shown:\n%s", screen)
	}
	w.keys("Enter", "Enter")
	w.shows("session        more-059")
	w.keys("Escape") // alone: with a key after it, a terminal reads Alt
	w.shows("1 with “59”", "PROJECT")
	w.keys("/", "x", "y", "z")
	w.shows("0 with “59xyz”", "1 needs you")
	w.keys("a", "Enter", "d", "Enter")
	if got := w.answers(); got != "" {
		t.Errorf("what is not on the screen was answered: %s", got)
	}
	w.keys("Escape")
	w.shows("60 working", "more-0")
	w.keys("Home")
	w.shows("more-001")
	w.keys("Escape")
	w.shows("ended 0")
}

// TestTopEnds: the exit codes of docs/json.md, and the terminal as it was.
func TestTopEnds(t *testing.T) {
	t.Parallel()
	w := newTop80(t, "ls", 3, 80, 24)
	w.shows("1 needs you")
	w.keys("C-c")
	w.shows("ended 130")
}

// TestTopSuspended: Ctrl-Z gives the terminal back to the shell, and fg brings the list back.
func TestTopSuspended(t *testing.T) {
	t.Parallel()
	w := newTop80(t, "ls", 3, 80, 24)
	w.shows("1 needs you")
	w.keys("C-z") // its parent is no shell that could continue it
	w.shows("cannot be suspended here", "1 needs you")
	w.keys("q")
	w.shows("ended 0")
	must.Have(t, "bash")
	w.tmux("respawn-pane", "-k", "env PS1='code $?:' bash --norc --noprofile -i")
	w.shows("code 0:")
	w.keys(w.program, "Enter")
	w.shows("1 needs you")
	w.keys("C-z")
	w.shows("Stopped")
	w.keys("stty -a | tr ';' ' ' ; echo is $((6*7))", "Enter")
	if screen := w.shows("is 42"); strings.Contains(screen, "-icanon") || strings.Contains(screen, "-echo ") || strings.Contains(screen, "1 needs you") {
		t.Errorf("the terminal is not as before:\n%s", screen)
	}
	w.keys("(exit 7)", "Enter")
	w.shows("code 7:")
	w.keys("fg", "Enter")
	w.shows("1 needs you", "PROJECT")
	w.keys("Down", "Enter")
	w.shows("session        more-")
	w.keys("q", "q")
	eventually.True(t, "the shell, after top has ended with 0", func() bool {
		screen := strings.TrimRight(w.tmux("capture-pane", "-p"), "\n ")
		return strings.Contains(screen, "is 42") && strings.HasSuffix(screen, "code 0:")
	})
}
