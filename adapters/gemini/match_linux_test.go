package gemini

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// world is a home with processes of Gemini CLI in one folder.
type world struct{ *scene.Environment }

const folder = "/home/dev/proj"

func newWorld(t *testing.T) world {
	w := world{scene.New(t)}
	w.Write(w.Path(".gemini", "tmp", "proj", ".project_root"), folder)
	return w
}

func (w world) start(ago time.Duration, args ...string) proc.Identity {
	return w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: folder, Started: time.Now().Add(-ago),
		Args: append([]string{"node", "/opt/gemini/node_modules/.bin/gemini"}, args...), Env: []string{"HOME=" + w.Home, node.Inner + "=true"}})
}

func stamp(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339Nano) }

// id returns the id of the session with a letter.
func id(letter string) string { return strings.Repeat(letter, 8) + "-0000-4000-8000-000000000000" }

// head returns the first line of the session with a letter, begun some time ago.
func head(letter string, ago time.Duration) string {
	return fmt.Sprintf(`{"sessionId":%q,"startTime":%q,"kind":"main"}`, id(letter), stamp(ago))
}

func user(ago time.Duration, text string) string {
	return fmt.Sprintf(`{"id":"u%s","timestamp":%q,"type":"user","content":[{"text":%q}]}`, text, stamp(ago), text)
}

func answer(ago time.Duration, text string) string {
	return fmt.Sprintf(`{"id":"a%s%v","timestamp":%q,"type":"gemini","content":%q,"tokens":{"input":10,"output":2,"cached":4}}`, text, ago, stamp(ago), text)
}

func (w world) chat(letter, minute string, lines ...string) {
	w.Append(w.Path(".gemini", "tmp", "proj", "chats", "session-2026-11-25T10-"+minute+"-"+strings.Repeat(letter, 8)+".jsonl"), lines...)
}

// logs writes what was typed: session, seconds ago, text.
func (w world) logs(typed ...[3]string) {
	var list []string
	for _, one := range typed {
		ago, _ := time.ParseDuration(one[1])
		list = append(list, fmt.Sprintf(`{"sessionId":%q,"messageId":0,"type":"user","message":%q,"timestamp":%q}`, id(one[0]), one[2], stamp(ago)))
	}
	w.Write(w.Path(".gemini", "tmp", "proj", "logs.json"), "["+strings.Join(list, ",\n")+"]")
}

// sessions returns the answer by the letter of the session, or the pid of a row without one.
func (w world) sessions() map[string]adapters.Session {
	w.Helper()
	out := map[string]adapters.Session{}
	for _, s := range adaptertest.Discover(w, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{Totals: true, Usage: true}).Sessions {
		key := s.ID[:1]
		if s.IsProcess() {
			key = fmt.Sprint(s.Process.PID)
		}
		out[key] = s
	}
	return out
}

func (w world) want(key string, status adapters.Status, outcome adapters.Outcome, process proc.Identity) adapters.Session {
	w.Helper()
	s, listed := w.sessions()[key]
	if !listed || s.Status != status || s.Outcome != outcome || s.Process != process {
		w.Errorf("%s: %s %s %v, want %s %s %v; %s", key, s.Status, s.Outcome, s.Process, status, outcome, process, s.Evidence)
	}
	return s
}

// 0.61.0 writes the whole history again after an interruption, with other ids and times: only what the user did counts.
func TestRewrittenHistory(t *testing.T) {
	w := newWorld(t)
	p := w.start(20 * time.Second)
	w.logs([3]string{"a", "13s", "one"}, [3]string{"a", "10s", "two"})
	w.chat("a", "00", head("a", 15*time.Second), user(12*time.Second, "one"), answer(11*time.Second, "fine"), user(9*time.Second, "two"),
		fmt.Sprintf(`{"id":"i","timestamp":%q,"type":"info","content":"Request cancelled."}`, stamp(8*time.Second)),
		user(7*time.Second, "merged"), `{"id":"x","timestamp":"`+stamp(7*time.Second)+`","type":"gemini","content":[{"text":"fine"}],"tokens":null}`)
	s := w.want("a", adapters.Idle, adapters.Interrupted, p)
	if s.FirstPrompt != "one" || s.LastPrompt != "two" || *s.Tokens != (adapters.Tokens{Input: 6, Output: 2, CacheRead: 4}) {
		t.Errorf("%q, %q, %+v", s.FirstPrompt, s.LastPrompt, s.Tokens)
	}
	messages, err := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}).Peek(t.Context(), s, 10)
	if err != nil || len(messages) != 4 || messages[3].Text != "Request cancelled." {
		t.Errorf("%v, %+v", err, messages)
	}
	w.chat("a", "00", `{"$set":{"messages":[],"lastUpdated":"`+stamp(2*time.Second)+`"}}`, user(time.Second, "three"))
	s = w.want("a", adapters.Working, "", p)
	if s.LastPrompt != "three" || s.Usage == nil {
		t.Errorf("%+v", s)
	}
}

// Resumed in a later minute: a second file has the header alone. Later 0.61.0 removes both, and continues in a file without a header.
func TestTwoFilesOfASession(t *testing.T) {
	w := newWorld(t)
	w.chat("a", "00", head("a", time.Hour), user(time.Hour, "one"), answer(time.Hour-time.Second, "fine"))
	w.chat("a", "59", head("a", 6*time.Second))
	p := w.start(10*time.Second, "--resume", "latest")
	if s := w.want("a", adapters.Idle, "", p); s.FirstPrompt != "one" || len(s.Files) != 2 {
		t.Errorf("%+v", s)
	}
	w.chat("b", "01", user(3*time.Second, "alone"))
	w.logs([3]string{"b", "4s", "alone"})
	if s := w.want("b", adapters.Stopped, adapters.Died, proc.Identity{}); s.ID != id("b") {
		t.Errorf("%+v", s)
	}
}

// A turn that was left open is no turn of the process that resumed its session, although that wrote the messages again.
func TestResumedOpenTurn(t *testing.T) {
	w := newWorld(t)
	prompt := user(time.Hour, "one")
	w.chat("a", "00", head("a", time.Hour), prompt)
	w.want("a", adapters.Stopped, adapters.Died, proc.Identity{})
	p := w.start(10*time.Second, "--resume", id("a"))
	w.want("a", adapters.Idle, adapters.Died, p)
	w.chat("a", "00", fmt.Sprintf(`{"$set":{"sessionId":%q}}`, id("a")), fmt.Sprintf(`{"$set":{"messages":[%s],"lastUpdated":%q}}`, prompt, stamp(5*time.Second)))
	w.want("a", adapters.Idle, adapters.Died, p)
}

// Processes that began after each other: a session that was opened before the second one began is the first one's, and the other is then the second
// one's. It stays so when the first one has ended.
func TestStartedAfterEachOther(t *testing.T) {
	w := newWorld(t)
	first, second := w.start(60*time.Second), w.start(30*time.Second)
	w.chat("a", "00", head("a", 40*time.Second), user(19*time.Second, "one"), answer(8*time.Second, "fine"))
	w.chat("b", "01", head("b", 10*time.Second), user(9*time.Second, "two"))
	w.logs([3]string{"a", "19500ms", "one"}, [3]string{"b", "9500ms", "two"})
	w.want("a", adapters.Idle, "", first)
	w.want("b", adapters.Working, "", second)
	w.Procs.End(first.PID)
	w.want("a", adapters.Stopped, "", proc.Identity{})
	w.want("b", adapters.Working, "", second)
}

// On a busy machine a session begins 15 s to 40 s after its process, and not in the order of the processes: which process has it is not known then, and none
// of the two is said to have stopped, however late a session begins.
func TestStartedSlowly(t *testing.T) {
	for name, opened := range map[string][2]time.Duration{"in order": {60 * time.Second, 50 * time.Second}, "the other order": {50 * time.Second, 60 * time.Second},
		"far apart": {15 * time.Second, 60 * time.Second}, "one after more than a minute": {20 * time.Second, 78 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first, second := w.start(100*time.Second), w.start(80*time.Second)
			w.chat("a", "00", head("a", opened[0]), user(9*time.Second, "one"))
			w.chat("b", "01", head("b", opened[1]), user(9*time.Second, "two"), answer(8*time.Second, "fine"))
			w.logs([3]string{"a", "9500ms", "one"}, [3]string{"b", "9500ms", "two"})
			for _, letter := range []string{"a", "b"} {
				w.want(letter, adapters.Unknown, "", proc.Identity{})
			}
			w.Procs.End(first.PID)
			for _, letter := range []string{"a", "b"} {
				w.want(letter, adapters.Unknown, "", proc.Identity{})
			}
			w.want(fmt.Sprint(second.PID), adapters.Unknown, "", second)
		})
	}
}

// A terminal that has no session is one reason more to say nothing of a session that was written since: its file may have begun later than any time that
// was seen.
func TestWrittenSince(t *testing.T) {
	w := newWorld(t)
	p := w.start(time.Hour)
	w.chat("a", "00", head("a", 50*time.Minute), user(9*time.Second, "one"))
	w.logs([3]string{"a", "9500ms", "one"})
	w.want("a", adapters.Unknown, "", proc.Identity{})
	w.want(fmt.Sprint(p.PID), adapters.Unknown, "", p)
	w.Procs.End(p.PID)
	w.want("a", adapters.Stopped, adapters.Died, proc.Identity{})
}

// A run beside a terminal that has no file yet, or none any more: its prompt was not typed.
func TestRunBesideTerminal(t *testing.T) {
	w := newWorld(t)
	terminal, run := w.start(20*time.Second), w.start(12*time.Second, "-p", "one")
	w.chat("a", "00", head("a", 6*time.Second), user(4*time.Second, "one"))
	w.want("a", adapters.Working, "", run)
	w.want(fmt.Sprint(terminal.PID), adapters.Idle, "", terminal)
	w.chat("b", "00", user(3*time.Second, "two")) // it has lost its header
	w.logs([3]string{"b", "4s", "two"})
	w.want("a", adapters.Working, "", run)
	w.want("b", adapters.Working, "", terminal)
	w.Procs.End(run.PID)
	w.want("a", adapters.Stopped, adapters.Died, proc.Identity{})
}

// A run that has its prompt on standard input looks like a terminal.
func TestRunWithInput(t *testing.T) {
	w := newWorld(t)
	run := w.start(12 * time.Second)
	w.chat("a", "00", head("a", 6*time.Second), user(4*time.Second, "one"))
	w.want("a", adapters.Unknown, "", proc.Identity{})
	w.want(fmt.Sprint(run.PID), adapters.Unknown, "", run)
}

// The user left a session: the log of prompts says so. Both commands have two names (0.61.0).
func TestLeftSession(t *testing.T) {
	for begins, chooses := range map[string]string{"/clear": "/resume", "/new": "/chat"} {
		t.Run(begins, func(t *testing.T) { leftSession(t, begins, chooses) })
	}
}

func leftSession(t *testing.T, begins, chooses string) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.chat("a", "00", head("a", 45*time.Second), user(40*time.Second, "one"), answer(39*time.Second, "fine"))
	w.logs([3]string{"a", "40s", "one"}, [3]string{"a", "30s", begins})
	w.want("a", adapters.Stopped, adapters.Completed, proc.Identity{})
	w.want(fmt.Sprint(p.PID), adapters.Idle, "", p)
	w.chat("b", "01", head("b", 29*time.Second), user(20*time.Second, "two"), answer(19*time.Second, "fine"))
	typed := [][3]string{{"a", "40s", "one"}, {"a", "30s", begins}, {"a", "21s", "two"}} // all under the first session
	w.logs(typed...)
	w.want("a", adapters.Stopped, adapters.Completed, proc.Identity{})
	w.want("b", adapters.Idle, "", p)
	w.logs(append(typed, [3]string{"a", "10s", "three"})...)
	w.want("b", adapters.Unknown, "", p)
	typed = append(typed, [3]string{"a", "8s", chooses})
	w.logs(typed...)
	w.want("b", adapters.Unknown, "", proc.Identity{})
	w.chat("a", "00", fmt.Sprintf(`{"$set":{"sessionId":%q}}`, id("a")), fmt.Sprintf(`{"$set":{"messages":[],"lastUpdated":%q}}`, stamp(6*time.Second)))
	w.want("a", adapters.Idle, "", p)
	w.want("b", adapters.Stopped, adapters.Completed, proc.Identity{})
}

// A command that keeps, lists or deletes conversations does not leave the session.
func TestKeptConversation(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.chat("a", "00", head("a", 45*time.Second), user(40*time.Second, "one"), answer(39*time.Second, "fine"))
	for _, command := range []string{"/chat save mine", "/chat list", "/resume save mine", "/chat share", "/newest"} {
		w.logs([3]string{"a", "40s", "one"}, [3]string{"a", "30s", command})
		w.want("a", adapters.Idle, "", p)
	}
}

// A prompt that is typed and not recorded yet is no idle session.
func TestTypedPrompt(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.chat("a", "00", head("a", 45*time.Second))
	w.logs([3]string{"a", "3s", "one"})
	if s := w.want("a", adapters.Unknown, "", p); s.FirstPrompt != "one" || !strings.Contains(s.Evidence, "not recorded yet") {
		t.Errorf("%+v", s)
	}
	w.logs([3]string{"a", "3s", "/help"})
	w.want(fmt.Sprint(p.PID), adapters.Idle, "", p)
}

// A call that is open waits or runs: without a process it is not known, and a server that is older than the turn proves nothing.
func TestOpenCall(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.child(p, 48*time.Second)
	w.logs([3]string{"a", "21s", "one"})
	w.chat("a", "00", head("a", 45*time.Second), user(20*time.Second, "one"), answer(19*time.Second, ""))
	w.want("a", adapters.Unknown, "", p)
	runs := w.child(p, 18*time.Second)
	w.want("a", adapters.Working, "", p)
	w.Procs.End(runs.PID)
	w.want("a", adapters.Unknown, "", p)
}

// 0.29.0 writes a file that is one object.
func TestObject(t *testing.T) {
	w := newWorld(t)
	w.Write(w.Path(".gemini", "tmp", "proj", "chats", "session-2026-11-25T10-00-aaaaaaaa.json"),
		fmt.Sprintf(`{"sessionId":%q,"startTime":%q,"messages":[%s,%s],"summary":"A title"}`, id("a"), stamp(9*time.Second), user(9*time.Second, "one"), answer(8*time.Second, "fine")))
	p := w.start(30*time.Second, "--resume", id("a"))
	if s := w.want("a", adapters.Idle, "", p); s.CWD != folder || s.Title != "A title" {
		t.Errorf("%+v", s)
	}
}

// What no program but Gemini CLI's inner process is.
func TestOwnsProcess(t *testing.T) {
	w := newWorld(t)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	old := time.Now().Add(-time.Minute)
	for _, c := range []struct {
		spec scene.Spec
		want bool
	}{
		{scene.Spec{Comm: "MainThread", Args: []string{"node", "/opt/node_modules/.bin/gemini"}, Env: []string{node.Inner + "=true"}}, true},
		{scene.Spec{Comm: "node", Args: []string{"node", "--max-old-space-size=1", "/opt/node_modules/@google/gemini-cli/bundle/gemini.js", "-p", "x"}, Env: []string{node.Inner + "=true"}}, true},
		{scene.Spec{Comm: "node", Args: []string{"node", "/opt/node_modules/.bin/gemini"}}, false},
		{scene.Spec{Comm: "node", Args: []string{"node", "/opt/node_modules/.bin/gemini", "mcp", "list"}, Env: []string{node.Inner + "=true"}}, false},
		{scene.Spec{Comm: "node", Args: []string{"node", "/opt/node_modules/.bin/other", "gemini"}, Env: []string{node.Inner + "=true"}}, false},
		{scene.Spec{Comm: "vim", Args: []string{"vim", "gemini"}, Env: []string{node.Inner + "=true"}}, false},
	} {
		c.spec.Started = old
		c.spec.CWD = folder
		c.spec.Exe = scene.NodeProgram
		id := w.Procs.Start(c.spec)
		row, err := w.Table.Find(id.PID)
		if err != nil || a.OwnsProcess(row) != c.want {
			t.Errorf("%q: %v, want %v", c.spec.Args, err, c.want)
		}
	}
}

// The home that a process names, and one that the user named.
func TestHomes(t *testing.T) {
	w := newWorld(t)
	for letter, home := range map[string]string{"a": "other", "b": "named"} {
		dir := w.Path(home, ".gemini", "tmp", "proj")
		w.Write(dir+"/.project_root", folder)
		w.Append(dir+"/chats/session-2026-11-25T10-00-"+strings.Repeat(letter, 8)+".jsonl", head(letter, 9*time.Second), user(time.Hour, "one"), answer(time.Hour, "fine"))
	}
	p := w.Procs.Start(scene.Spec{Comm: "node", Exe: scene.NodeProgram, CWD: folder, Args: []string{"node", "/opt/gemini/node_modules/.bin/gemini"},
		Env: []string{"HOME=" + w.Home, node.Inner + "=true", homeVariable + "=" + w.Path("other")}, Started: time.Now().Add(-15 * time.Second)})
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: func() []string { return []string{w.Path("named", ".gemini")} }})
	check := func(first proc.Identity) {
		t.Helper()
		roll := adaptertest.Discover(t, a, adapters.Query{})
		got := map[string]proc.Identity{}
		for _, s := range roll.Sessions {
			got[s.ID[:1]] = s.Process
		}
		if len(got) != 2 || got["a"] != first || got["b"] != (proc.Identity{}) {
			t.Errorf("%v", got)
		}
	}
	check(p)
	w.Procs.End(p.PID) // for 24 hours
	check(proc.Identity{})
}
