package qwen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// servedID is the session of a testServer.
const servedID = "5aef0000-0000-4000-8000-000000000001"

// testServer speaks the protocol of `qwen serve` (0.24.4) for one session with an open call. It listens on loopback, in this process.
type testServer struct {
	mu       sync.Mutex
	pending  map[string]string // the action by the id of the request
	question string            // the questions that a request with the id "q1" asks, in place of those above
	asked    []string          // method, path and content
	refuses  int               // the status with which it refuses orders
}

func (v *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	defer v.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, "/session/"+servedID)
	v.asked = append(v.asked, strings.TrimSpace(r.Method+" "+path+" "+string(content)))
	id, votes := strings.CutPrefix(path, "/permission/")
	_, waits := v.pending[id]
	waits = waits || id == "q1" && v.question != ""
	switch {
	case !ok || votes && !waits:
		http.Error(w, "{}", http.StatusNotFound)
	case v.refuses != 0:
		http.Error(w, "{}", v.refuses)
	case votes:
		delete(v.pending, id)
	case path == "/status":
		var list []string
		for id, action := range v.pending {
			list = append(list, fmt.Sprintf(`{"requestId":%q,"kind":"permission","createdAt":"2026-11-26T19:23:46.645Z","action":%s,"options":[{"optionId":"restore_previous","label":"As before","kind":"allow_once"},`+
				`{"optionId":"proceed_always","label":"Always","kind":"allow_always"},{"optionId":"proceed_once","label":"Allow","kind":"allow_once"},{"optionId":"cancel","label":"Reject","kind":"reject_once"}]}`, id, action))
		}
		if v.question != "" {
			list = []string{fmt.Sprintf(`{"requestId":"q1","kind":"user_question","createdAt":"2026-11-26T19:23:46.645Z","title":"Ask user","questions":%s,"options":[{"optionId":"proceed_once","label":"Submit","kind":"allow_once"},{"optionId":"cancel","label":"Cancel","kind":"reject_once"}]}`, v.question)}
		}
		fmt.Fprintf(w, `{"sessionId":%q,"hasActivePrompt":true,"isWaitingForPermission":%v,"isWaitingForUserQuestion":false,"pendingInteractions":[%s]}`, servedID, len(list) > 0, strings.Join(list, ","))
	case path == "/prompt":
		w.WriteHeader(http.StatusAccepted)
	case path == "/cancel":
		w.WriteHeader(http.StatusNoContent)
	}
}

// last returns what the server was asked last.
func (v *testServer) last() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked[len(v.asked)-1]
}

// touch is the action of a command.
const touch = `{"type":"execute","title":"touch q","content":[],"input":{"command":"touch q","description":"x"}}`

// served returns a session whose call has been open for a while, in a process below one that says in its command line that it serves at a port.
func served(t *testing.T, port int, open time.Duration) (*Adapter, *adapters.Session) {
	t.Helper()
	w := scene.New(t)
	began := time.Now().Add(-time.Hour)
	up := w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: "/home/dev/proj", Started: began, Env: []string{"HOME=" + w.Home},
		Args: []string{"node", "/opt/qwen/node_modules/.bin/qwen", "serve", "--port=" + strconv.Itoa(port)}})
	p := w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: "/home/dev/proj", Started: began, PPID: up.PID, Env: []string{"HOME=" + w.Home, node.Inner + "=true"},
		Args: []string{"node", "--expose-gc", "/opt/qwen/node_modules/@qwen-code/qwen-code/cli.js", "--acp"}})
	w.Write(w.Path(".qwen", "sessions", fmt.Sprintf("%d-9a216f58.json", p.PID)), fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"procStart":"%s:%d","sessionId":%q,"kind":"serve"}`, p.PID, p.Boot, p.Start, servedID))
	record := func(ago time.Duration, rest string) {
		w.Append(filepath.Join(w.Path(".qwen", "projects", "-home-dev-proj", "chats"), servedID+".jsonl"), fmt.Sprintf(
			`{"uuid":"u%d","sessionId":%q,"timestamp":%q,"cwd":"/home/dev/proj","version":"0.24.4",%s}`, ago, servedID, time.Now().Add(-ago).UTC().Format(time.RFC3339Nano), rest))
	}
	record(open+time.Second, `"type":"user","daemonPromptId":"p1","message":{"role":"user","parts":[{"text":"go"}]}`)
	record(open, `"type":"assistant","message":{"parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"touch q"}}}]},"usageMetadata":{"promptTokenCount":1}`)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	a.serves = func(at netip.AddrPort, id proc.Identity) error {
		if id != up || at.Addr() != netip.MustParseAddr("127.0.0.1") {
			return proc.ErrForeignListener
		}
		return nil
	}
	return a, &adapters.Session{
		ID: servedID, Agent: Name,
		State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission},
		Owner: adapters.Owner{Process: p, Shared: true},
		Place: adapters.Place{CWD: "/home/dev/proj"},
	}
}

// withServer returns a server with one request, and its session.
func withServer(t *testing.T, open time.Duration) (*testServer, *Adapter, *adapters.Session) {
	t.Helper()
	v := &testServer{pending: map[string]string{"r1": touch}}
	a, s := served(t, listens(t, v), open)
	return v, a, s
}

// listens starts a server and returns its port.
func listens(t *testing.T, h http.Handler) int {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

func stateOf(t *testing.T, a *Adapter) (status, evidence string) {
	t.Helper()
	got := adaptertest.Discover(t, a, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].ID != servedID {
		t.Fatalf("%+v", got)
	}
	return strings.TrimSuffix(string(got[0].Status)+"/"+string(got[0].WaitingFor), "/"), got[0].Evidence
}

// What the server says goes before how long the call is open.
func TestServedWaits(t *testing.T) {
	_, a, _ := withServer(t, 0)
	if got, why := stateOf(t, a); got != "waiting/permission" || !strings.Contains(why, "its server waits for a permission") {
		t.Errorf("a new call that waits: %s, %s", got, why)
	}
	v, a, _ := withServer(t, time.Minute)
	delete(v.pending, "r1")
	if got, why := stateOf(t, a); got != "working" {
		t.Errorf("an old call that does not wait: %s, %s", got, why)
	}
	v.refuses = http.StatusUnauthorized
	if got, why := stateOf(t, a); got != "waiting/permission" || strings.Contains(why, "server") {
		t.Errorf("an old call of which the server says nothing: %s, %s", got, why)
	}
}

// A session of which the registry says nothing yet may be one that its server was just given (0.24.4: 0.3 to 1 s). It is asked about again.
func TestServedIsNew(t *testing.T) {
	for open, want := range map[time.Duration]string{0: "unknown", time.Minute: "stopped"} {
		a, s := served(t, 1, open)
		entry := filepath.Join(a.Home, ".qwen", "sessions", fmt.Sprintf("%d-9a216f58.json", s.Process.PID))
		text, err := os.ReadFile(entry)
		must.Do(t, err)
		must.Do(t, os.WriteFile(entry, []byte(strings.Replace(string(text), "0001", "0002", 1)), 0o600))
		if got := adaptertest.Discover(t, a, adapters.Query{IDs: []string{servedID}}).Sessions; len(got) != 1 || string(got[0].Status) != want {
			t.Errorf("a call that is open for %v: %+v, want %s", open, got, want)
		}
		adaptertest.Discover(t, a, adapters.Query{})
		ctx, stop := context.WithTimeout(t.Context(), eventually.Limit)
		if open == 0 {
			a.Push(ctx, stop)
			if !errors.Is(context.Cause(ctx), context.Canceled) {
				t.Error("a session that is new is not asked about again")
			}
		}
		stop()
	}
}

func TestServedAnswers(t *testing.T) {
	for verdict, option := range map[adapters.Verdict]string{adapters.AllowOnce: "proceed_once", adapters.Deny: "cancel"} {
		v, a, s := withServer(t, time.Minute)
		list, err := a.Pending(t.Context(), *s)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if r := list[0]; r.Kind != adapters.AsksCommand || r.Text != "touch q" || !r.CanAllow || !r.CanDeny || r.Folder != s.CWD || r.Session != s.ID || r.AskedAt.IsZero() || r.Options[3] != "Reject" {
			t.Errorf("%+v", r)
		}
		v.pending["r1"] = strings.Replace(touch, "touch q", "rm -rf /", 2)
		if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: verdict}); !errors.Is(err, adapters.ErrRequestChanged) {
			t.Errorf("another command: %v", err)
		}
		v.pending["r1"] = touch
		if got, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: verdict}); err != nil || !got.Confirmed {
			t.Errorf("%+v, %v", got, err)
		}
		if got, want := v.last(), fmt.Sprintf(`POST /permission/r1 {"outcome":{"optionId":%q,"outcome":"selected"}}`, option); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: verdict}); !errors.Is(err, adapters.ErrNotPending) {
			t.Errorf("twice: %v", err)
		}
		if c, err := a.channelOf(s); err != nil || !errors.Is(c.decide(t.Context(), s, &list[0], adapters.Decision{Verdict: verdict}), adapters.ErrNotPending) {
			t.Errorf("a request that is answered elsewhere meanwhile: %v", err)
		}
	}
}

// Questions are answered with the labels of their options or another text, and never allowed without an answer.
func TestServedQuestion(t *testing.T) {
	v, a, s := withServer(t, time.Minute)
	v.question = `[{"question":"Which?","header":"H","multiSelect":true,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"answerKey":"0"},{"question":"Why?","header":"W","options":[],"answerKey":"1"}]`
	s.WaitingFor = adapters.ForQuestion
	list, err := a.Pending(t.Context(), *s)
	if err != nil || len(list) != 1 || list[0].Kind != adapters.AsksQuestion || list[0].CanAllow || !list[0].CanDeny || len(list[0].Questions) != 2 || list[0].Questions[0].Options[1].Says != "b" {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNoSuchAnswer) {
		t.Errorf("allowed without an answer: %v", err)
	}
	if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Red", "Blue"}, {"so"}}}); err != nil {
		t.Error(err)
	}
	if got, want := v.last(), `POST /permission/q1 {"answers":{"0":"Red, Blue","1":"so"},"outcome":{"optionId":"proceed_once","outcome":"selected"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestServedOrders(t *testing.T) {
	v, a, s := withServer(t, time.Minute)
	if err := a.Send(t.Context(), *s, "go on"); !errors.Is(err, adapters.ErrBusy) {
		t.Errorf("while it waits: %v", err)
	}
	const prompt = `POST /prompt {"prompt":[{"text":"go on","type":"text"}]}`
	if err := a.Queue(t.Context(), *s, "go on"); err != nil || v.last() != prompt {
		t.Errorf("queue: %v, %s", err, v.last())
	}
	s.Status = adapters.Idle
	if err := a.Send(t.Context(), *s, "go on"); err != nil || v.last() != prompt {
		t.Errorf("send: %v, %s", err, v.last())
	}
	if err := errors.Join(a.CanStop(t.Context(), *s), a.Stop(t.Context(), *s)); err != nil || v.last() != "POST /cancel" {
		t.Errorf("stop: %v, %s", err, v.last())
	}
	for code, want := range map[int]error{http.StatusUnauthorized: adapters.ErrAnswerElsewhere, http.StatusForbidden: adapters.ErrNotAllowed} {
		v.refuses = code
		if err := a.Queue(t.Context(), *s, "x"); !errors.Is(err, want) || errors.Is(err, adapters.ErrUnconfirmed) {
			t.Errorf("%d: %v", code, err)
		}
	}
	alone := *s
	alone.Shared = false
	if err := a.CanStop(t.Context(), alone); err == nil || !strings.Contains(err.Error(), "in its terminal") {
		t.Errorf("a terminal: %v", err)
	}
}

// Nothing is sent to a process that is not the one above the session's, also if it comes to listen there at the last moment.
func TestServedByAnother(t *testing.T) {
	v, a, s := withServer(t, time.Minute)
	try := func() error {
		_, err := a.Pending(t.Context(), *s)
		return errors.Join(err, a.Stop(t.Context(), *s), a.Queue(t.Context(), *s, "x"))
	}
	own := a.serves
	calls := 0
	a.serves = func(at netip.AddrPort, id proc.Identity) error {
		if calls++; calls%2 == 0 {
			return proc.ErrForeignListener
		}
		return own(at, id)
	}
	_, err := a.Pending(t.Context(), *s)
	if listener, is := errors.AsType[*kit.ListenerError](err); !is || listener.Unsent != "nothing was sent" {
		t.Errorf("another process since the look: %v", err)
	}
	a.serves = proc.CheckListenedBy // of the test's process, which is not the session's server
	if err := try(); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("%v", err)
	}
	a.serves = own
	s.Process.Start++
	if err := try(); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("another process with the same pid: %v", err)
	}
	if len(v.asked) > 0 {
		t.Errorf("it was asked %q", v.asked)
	}
}

// A server takes one of the next ports if the one of its command line is in use.
func TestServedAtNextPort(t *testing.T) {
	v := &testServer{pending: map[string]string{"r1": touch}}
	port := listens(t, v)
	a, s := served(t, port-morePorts, 0)
	own := a.serves
	a.serves = func(at netip.AddrPort, id proc.Identity) error {
		if int(at.Port()) != port {
			return proc.ErrForeignListener
		}
		return own(at, id)
	}
	if list, err := a.Pending(t.Context(), *s); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A server that never answers holds no question up, and of an order it is not known whether it had an effect.
func TestSilentServer(t *testing.T) {
	release := make(chan struct{})
	a, s := served(t, listens(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })), time.Minute)
	t.Cleanup(func() { close(release) })
	if got, why := stateOf(t, a); got != "waiting/permission" {
		t.Errorf("%s, %s", got, why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if list, err := a.Pending(ctx, *s); err == nil || errors.Is(err, adapters.ErrUnconfirmed) {
		t.Errorf("%+v, %v", list, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := a.Stop(ctx, *s); !errors.Is(err, adapters.ErrUnconfirmed) {
		t.Errorf("%v", err)
	}
}

// What is asked for is shown as a whole, and what is not shown can't be allowed.
func TestServedRequests(t *testing.T) {
	v, a, s := withServer(t, 0)
	for action, want := range map[string]adapters.Request{
		`{}`: {Kind: adapters.AsksPermission},
		`{"type":"other","title":"mcp run","input":{"command":"ls"}}`:                             {Kind: adapters.AsksPermission, CanAllow: true, Text: "mcp run\n{\n  \"command\": \"ls\"\n}"},
		`{"type":"execute","title":"ls","input":{"command":"ls","is_background":true}}`:           {Kind: adapters.AsksPermission, CanAllow: true, Text: "ls\n{\n  \"command\": \"ls\",\n  \"is_background\": true\n}"},
		`{"type":"edit","title":"Write a","content":[{"type":"diff","path":"/a","newText":"x"}]}`: {Kind: adapters.AsksFileChange, CanAllow: true, Text: "Write a\n{\n  \"file_path\": \"/a\",\n  \"new_string\": \"x\",\n  \"old_string\": \"\"\n}"},
	} {
		v.pending = map[string]string{"r1": action}
		list, err := a.Pending(t.Context(), *s)
		if err != nil || len(list) != 1 || list[0].Kind != want.Kind || list[0].CanAllow != want.CanAllow || list[0].Text != want.Text || !list[0].CanDeny {
			t.Errorf("%s: %+v, %v", action, list, err)
		}
	}
	if !slices.Contains(v.asked, "GET /status") {
		t.Errorf("%q", v.asked)
	}
	must.Do(t, t.Context().Err())
}

// A request with a member that is not known can only be denied, and its name is said.
func TestServedUnknownMember(t *testing.T) {
	for more, member := range map[string]string{`"env":{"A":"b"},`: "action.env", `"Type":"fetch",`: "action.Type"} {
		v, a, s := withServer(t, time.Minute)
		v.pending["r1"] = strings.Replace(touch, `"title"`, more+`"title"`, 1)
		list, err := a.Pending(t.Context(), *s)
		if err != nil || len(list) != 1 || !slices.Equal(list[0].Unknown, []string{member}) || list[0].CanAllow || !list[0].CanDeny {
			t.Fatalf("%s: %+v, %v", member, list, err)
		}
		list[0].CanAllow = true
		if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), member) {
			t.Errorf("%s: allowed: %v", member, err)
		}
		list[0].CanAllow = false
		if _, err := a.Answer(t.Context(), *s, list[0], adapters.Decision{Verdict: adapters.Deny}); err != nil {
			t.Errorf("%s: not denied: %v", member, err)
		}
	}
}
