package kimi

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

const proj = "/home/dev/proj"

// world is a home with sessions, written as 2.1.0 does, whose times are before now.
type world struct {
	*scene.Environment
	t *testing.T
}

func newWorld(t *testing.T) *world { return &world{scene.New(t), t} }

// open starts a terminal whose process has erased its command line, which was `node /opt/bin/kimi` with args.
func (w *world) open(ago time.Duration, env string, args ...string) proc.Identity {
	length := len("node /opt/bin/kimi ")
	for _, arg := range args {
		length += len(arg) + 1
	}
	line := append([]string{title}, make([]string, length-len(title)-1)...)
	return w.Procs.Start(scene.Spec{Comm: title, Exe: scene.NodeProgram, CWD: proj, Args: line, Started: time.Now().Add(-ago), Env: []string{"HOME=" + w.Home, env}})
}

func id(key string) string {
	return sessionPrefix + strings.Repeat(key, 8) + "-0000-4000-8000-000000000000"
}

func (w *world) dir(key string) string {
	return w.Path(folderName, "sessions", fmt.Sprintf("wd_proj_%.6x", sha256.Sum256([]byte(proj))), id(key))
}

// wire appends records of an agent: each is its time before now, its type and its members.
func (w *world) wire(key, agent string, records ...[3]string) {
	path := filepath.Join(w.dir(key), "agents", agent, wireName)
	for _, r := range records {
		ago, err := time.ParseDuration(r[0])
		must.Do(w.t, err)
		at := time.Now().Add(-ago).UnixMilli()
		w.Append(path, fmt.Sprintf(`{"type":%q,%s,"created_at":%d,"time":%d}`, r[1], r[2], at, at))
	}
}

// begin makes a session with a first prompt.
func (w *world) begin(key, ago, prompt string) {
	created, err := time.ParseDuration(ago)
	must.Do(w.t, err)
	at := time.Now().Add(-created).UnixMilli()
	w.Write(filepath.Join(w.dir(key), "state.json"), fmt.Sprintf(`{"id":%q,"version":2,"cwd":%q,"createdAt":%d,"updatedAt":%d,"agents":{},"lastPrompt":%q,"title":%q}`,
		id(key), proj, at, at, prompt, prompt))
	w.wire(key, mainAgent, [3]string{ago, "metadata", `"protocol_version":"1.5"`}, prompted(ago, prompt))
}

func prompted(ago, text string) [3]string {
	return [3]string{ago, "turn.prompt", fmt.Sprintf(`"input":[{"type":"text","text":%q}],"origin":{"kind":"user"},"turnId":0`, text)}
}

func finished(ago, reason string) [3]string {
	return [3]string{ago, "turn.ended", fmt.Sprintf(`"turnId":0,"reason":%q`, reason)}
}

func asks(ago, kind, name string) [3]string {
	return [3]string{ago, "interaction.request", fmt.Sprintf(`"id":%q,"kind":%q,"toolCallId":"c1","request":{"toolName":"Bash","questions":[{"question":"Which?"}],"display":{"command":"make"}}`, name, kind)}
}

func (w *world) typed(lines ...string) {
	for _, line := range lines {
		w.Append(w.Path(folderName, "user-history", fmt.Sprintf("%x.jsonl", md5.Sum([]byte(proj)))), fmt.Sprintf(`{"content":%q}`, line))
	}
}

// rows returns what the adapter lists, by the first letter of the ids, with the processes as "p".
func (w *world) rows() map[string]adapters.Session {
	w.t.Helper()
	list := map[string]adapters.Session{}
	for _, s := range adaptertest.Discover(w.t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{Totals: true, Usage: true}).Sessions {
		key := strings.TrimPrefix(s.ID, sessionPrefix)[:1]
		if strings.Contains(s.ID, "/") {
			key += "/" + s.ID[strings.Index(s.ID, "/")+1:]
		}
		list[key] = s
	}
	return list
}

func (w *world) check(want map[string]string) {
	w.t.Helper()
	rows := w.rows()
	for key, truth := range want {
		s, ok := rows[key]
		if got := scene.TruthOf(&s).String(); !ok && truth != "" || got != truth {
			w.t.Errorf("%s: %q, want %q; %s", key, got, truth, s.Evidence)
		}
	}
	for key, s := range rows {
		if _, is := want[key]; !is {
			w.t.Errorf("%s is listed: %s; %s", key, s.Status, s.Evidence)
		}
	}
}

// A sub-agent asks in its own file only: its session waits as well, until the request is answered, and both are gone with their process.
func TestSubAgentAsks(t *testing.T) {
	w := newWorld(t)
	p := w.open(time.Minute, "A=b")
	w.begin("a", "30s", "delegate")
	w.wire("a", "agent-0", [3]string{"20s", "metadata", `"protocol_version":"1.5"`},
		[3]string{"20s", "turn.prompt", `"input":[{"type":"text","text":"sub"}],"origin":{"kind":"system_trigger","name":"subagent"},"turnId":0`}, asks("10s", "approval", "one"))
	w.check(map[string]string{"a": "waiting permission", "a/agent-0": "waiting permission"})
	if s := w.rows()["a"]; s.Doing != "make" || s.Process != p {
		t.Errorf("%q, process %v", s.Doing, s.Process)
	}
	w.wire("a", "agent-0", [3]string{"9s", "interaction.resolved", `"id":"one","response":{"decision":"approved"}`})
	w.check(map[string]string{"a": "working", "a/agent-0": "working"})
	w.wire("a", "agent-0", asks("8s", "approval", "two"))
	w.Procs.End(p.PID)
	w.check(map[string]string{"a": "stopped died"})
	w.open(5*time.Second, "PATH=/nonexistent", "-r", id("a"))
	w.check(map[string]string{"a": "unknown", "p": "unknown"}) // where its program is found is not known, so that it may be a new one
}

// A question in the background waits after its turn; one of a turn that was interrupted does not.
func TestQuestions(t *testing.T) {
	for reason, want := range map[string]string{"completed": "waiting question", "cancelled": "idle interrupted", "failed": "idle failed"} {
		w := newWorld(t)
		w.open(time.Minute, "A=b")
		w.begin("a", "30s", "ask")
		w.wire("a", mainAgent, asks("20s", "question", "one"), finished("10s", reason))
		w.check(map[string]string{"a": want})
	}
}

// Two sessions were written since the only process of their folder began: /new says that it left the first one, and without it nothing is known.
func TestLeft(t *testing.T) {
	for name, c := range map[string]struct {
		typed []string
		want  map[string]string
	}{
		"new":    {[]string{"one", "/new", "two"}, map[string]string{"a": "stopped completed", "b": "idle completed"}},
		"other":  {[]string{"one", "two"}, map[string]string{"a": "unknown", "b": "unknown", "p": "unknown"}},
		"chosen": {[]string{"one", "/new", "two", "/sessions"}, map[string]string{"a": "unknown", "b": "unknown", "p": "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.open(time.Minute, "A=b")
			w.begin("a", "40s", "one")
			w.wire("a", mainAgent, finished("39s", "completed"))
			w.begin("b", "20s", "two")
			w.wire("b", mainAgent, finished("19s", "completed"))
			w.typed(c.typed...)
			w.check(c.want)
		})
	}
}

// A server has the sessions for which it keeps a file, and no terminal's: what it says of these would be wrong.
func TestServer(t *testing.T) {
	w := newWorld(t)
	server := w.open(time.Minute, "A=b", "web", "--no-open")
	began := time.Now().Add(-55 * time.Second).UnixMilli()
	w.Write(w.Path(folderName, "server", "instances", "01.json"), fmt.Sprintf(`{"server_id":"01","pid":%d,"port":58627,"started_at":%d}`, server.PID, began))
	terminal := w.open(50*time.Second, "A=b")
	w.begin("a", "40s", "served")
	w.Write(w.Path(folderName, "server", "events", id("a")+".jsonl"), fmt.Sprintf(`{"kind":"journal_header","created_at":%d}`+"\n", began+1000))
	w.begin("b", "30s", "typed")
	w.wire("b", mainAgent, asks("20s", "approval", "one"))
	w.check(map[string]string{"a": "working", "b": "waiting permission"})
	if rows := w.rows(); rows["a"].Process != server || !rows["a"].Shared || rows["b"].Process != terminal {
		t.Errorf("%+v, %+v", rows["a"], rows["b"])
	}
}

// A session that its user, or an editor, has opened is of no process before its first prompt, which is noticed where it is written; so is one whose folder is still empty.
func TestOpenedIsWatched(t *testing.T) {
	w := newWorld(t)
	w.open(time.Minute, "A=b")
	w.begin("a", "30s", "one")
	w.Write(filepath.Join(w.dir("b"), "state.json"), fmt.Sprintf(`{"id":%q,"version":2,"cwd":%q,"createdAt":%d,"agents":{}}`, id("b"), proj, time.Now().UnixMilli()))
	must.Do(t, os.MkdirAll(w.dir("c"), 0o700))
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	adaptertest.Discover(t, a, adapters.Query{})
	for _, key := range []string{"a", "b", "c"} {
		if want := w.dir(key); !slices.Contains(a.WatchPaths(), want) {
			t.Errorf("%s is not watched:\n%s", want, strings.Join(a.WatchPaths(), "\n"))
		}
	}
}

// A fork has its parent's records: no process works in it, and its answers count for the parent.
func TestFork(t *testing.T) {
	w := newWorld(t)
	w.open(time.Minute, "A=b")
	w.begin("a", "40s", "one")
	w.wire("a", mainAgent, [3]string{"39s", "usage.record", `"model":"m","usage":{"inputOther":7,"output":5,"inputCacheRead":3,"inputCacheCreation":2}`}, finished("38s", "completed"))
	w.begin("b", "20s", "one")
	data, err := os.ReadFile(filepath.Join(w.dir("a"), "agents", mainAgent, wireName))
	must.Do(t, err)
	w.Write(filepath.Join(w.dir("b"), "agents", mainAgent, wireName), string(data)+`{"type":"forked","agentId":"main","time":`+fmt.Sprint(time.Now().Add(-20*time.Second).UnixMilli())+"}\n")
	w.check(map[string]string{"a": "idle completed", "b": "stopped completed"})
	rows := w.rows()
	want := adapters.Tokens{Input: 7, Output: 5, CacheRead: 3, CacheWrite: 2}
	if used := rows["a"].Usage; len(used) != 1 || used[0].Tokens != want || len(rows["b"].Usage) != 0 || *rows["b"].Tokens != want {
		t.Errorf("%+v, %+v", rows["a"].Usage, rows["b"].Usage)
	}
}

// The answers that a fork has of its parent count for the parent also if that goes on (2.1.0).
func TestForkBeforeItsParentWentOn(t *testing.T) {
	w := newWorld(t)
	w.begin("a", "40s", "one")
	w.wire("a", mainAgent, [3]string{"39s", "usage.record", `"model":"m","usage":{"inputOther":7,"output":5}`}, finished("38s", "completed"))
	w.begin("b", "20s", "one")
	data, err := os.ReadFile(filepath.Join(w.dir("a"), "agents", mainAgent, wireName))
	must.Do(t, err)
	forked := string(data) + `{"type":"forked","agentId":"main","time":` + fmt.Sprint(time.Now().Add(-20*time.Second).UnixMilli()) + "}\n"
	w.Write(filepath.Join(w.dir("b"), "agents", mainAgent, wireName), forked)
	w.wire("b", mainAgent, [3]string{"15s", "usage.record", `"model":"m","usage":{"inputOther":1,"output":2}`}, finished("14s", "completed"))
	w.wire("a", mainAgent, prompted("5s", "two"), finished("4s", "failed"))
	rows := w.rows()
	for key, want := range map[string]adapters.Tokens{"a": {Input: 7, Output: 5}, "b": {Input: 1, Output: 2}} {
		if used := rows[key].Usage; len(used) != 1 || used[0].Tokens != want {
			t.Errorf("%s: %+v", key, used)
		}
	}
}

// Records of another version say nothing of a live session. A turn that was left open before the process began is over.
func TestOlder(t *testing.T) {
	for version, want := range map[string]string{"1.4": "unknown", "2.0": "unknown", "1.6": "working"} {
		w := newWorld(t)
		w.open(time.Minute, "A=b")
		w.wire("a", mainAgent, [3]string{"30s", "metadata", fmt.Sprintf(`"protocol_version":%q`, version)},
			[3]string{"30s", "profile.bind", fmt.Sprintf(`"environmentDisclosure":{"cwd":%q}`, proj)}, prompted("30s", "one"))
		w.check(map[string]string{"a": want})
	}
	w := newWorld(t)
	w.begin("a", "90s", "one")
	w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: proj, Started: time.Now().Add(-time.Minute), Env: []string{"HOME=" + w.Home},
		Args: []string{"node", "/opt/bin/kimi", "--session", id("a")}})
	w.check(map[string]string{"a": "idle died"})
}

// The length of an erased command line shows what it was where the place of the program is known.
func TestStartOf(t *testing.T) {
	bin := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(bin, "kimi"), nil, 0o700))
	known := []string{"PATH=/nonexistent:" + bin}
	length := func(script string, args ...string) int {
		return len(strings.Join(append([]string{"node", script}, args...), " ")) + 1
	}
	for _, c := range []struct {
		args  []string
		want  start
		hosts bool
	}{
		{nil, plain, false}, {[]string{"-c"}, continues, false}, {[]string{"--continue"}, continues, false}, {[]string{"-r", id("a")}, names, false},
		{[]string{"--session", id("a")}, names, false}, {[]string{"acp"}, anyStart, true}, {[]string{"-p", "hello"}, anyStart, false},
	} {
		if got, hosts := startOf(length(filepath.Join(bin, "kimi"), c.args...), known); got != c.want || hosts != c.hosts {
			t.Errorf("%q: %v %v", c.args, got, hosts)
		}
	}
	for script, want := range map[string]start{"/usr/bin/kimi": plain, "/home/dev/.nvm/versions/node/v24.21.0/lib/node_modules/@moonshot-ai/kimi-code/dist/main.mjs": maybe} {
		if got, _ := startOf(length(script), []string{"PATH=/nonexistent"}); got != want {
			t.Errorf("%s: %v", script, got)
		}
	}
}

// A home that only a process names is read, and its sessions are those of that process.
func TestSecondHome(t *testing.T) {
	w := newWorld(t)
	w.begin("a", "30s", "one")
	second := w.Path("second")
	must.Do(t, os.Rename(w.Path(folderName), second))
	w.open(time.Minute, homeVariable+"="+second)
	w.check(map[string]string{"a": "working"})
	if s := w.rows()["a"]; s.Home != second {
		t.Error(s.Home)
	}
}
