package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// service is a background service of OpenCode 2 with a session in a turn, whose answers a test sets.
type service struct {
	*store
	fixture *scene.Environment
	adapter *Adapter
	process proc.Identity
	url     string

	mu      sync.Mutex
	answers map[string]string // by path; "" is an answer without content, and another path is not found
	asked   []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	user, password, _ := r.BasicAuth()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+user+":"+password+" "+string(body))
	if answer, ok := s.answers[r.URL.Path]; ok {
		fmt.Fprint(w, answer)
		return
	}
	http.NotFound(w, r)
}

func (s *service) say(path, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = answer
}

// posted returns the last request that was no question.
func (s *service) posted() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.asked) {
		if strings.HasPrefix(a, "POST ") {
			return a
		}
	}
	return ""
}

const running = `{"data":{"` + sesA + `":{"type":"running"}}}`

func newService(t *testing.T, version string) *service {
	t.Helper()
	s := &service{store: newStore(t, nextTables), fixture: scene.New(t), answers: map[string]string{"/api/session/active": running}}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.url = listener.URL
	now := time.Now()
	s.process = s.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: s.home,
		Args: []string{"opencode", "serve", "--service"}, Env: []string{"HOME=" + s.home}, Started: now.Add(-time.Minute)})
	s.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p",
		Args: []string{"opencode"}, Env: []string{"HOME=" + s.home}, Started: now.Add(-time.Minute)})
	at := now.Add(-30 * time.Second).UnixMilli()
	s.sessionNext(sesA, at, "go")
	s.row(sesA, "assistant", at+1, fmt.Sprintf(`{"time":{"created":%d},"content":[{"type":"tool","id":"c1","name":"shell","state":{"status":"running","input":{"command":"rm x"}},"time":{"created":%d}}]}`, at+1, at+1))
	s.exec("UPDATE session_v2 SET time_suspended = ?", at)
	s.register(map[string]any{"id": "x", "version": version, "url": s.url, "pid": s.process.PID, "password": "secret"}, 0o600)
	s.adapter = New(adapters.Config{Home: s.home, Env: s.fixture.Env, Table: s.fixture.Table})
	s.adapter.serves = anyProcess
	return s
}

func (s *service) register(r map[string]any, mode os.FileMode) {
	s.Helper()
	path := filepath.Join(s.home, ".local", "state", "opencode", "service.json")
	text, err := json.Marshal(r)
	err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.RemoveAll(path))
	if err == nil {
		err = errors.Join(os.WriteFile(path, text, mode), os.Chmod(path, mode))
	}
	must.Do(s, err)
}

func (s *service) look(t *testing.T) (adapters.Session, error) {
	t.Helper()
	sessions, roll, err := asked(t, s.adapter, adapters.Query{})
	if len(roll.Sessions) != 1 {
		t.Errorf("rows: %v", roll.Sessions) // the client has none
	}
	return sessions[sesA], err
}

// The service knows what waits, which the store doesn't show.
func TestService(t *testing.T) {
	s := newService(t, "2.0.12")
	s.say("/api/session/"+sesA+"/permission", `{"data":[]}`)
	s.say("/api/session/"+sesA+"/form", `{"data":[]}`)
	want := func(status adapters.Status, waiting adapters.WaitingFor) {
		t.Helper()
		got, err := s.look(t)
		if err != nil || got.Status != status || got.WaitingFor != waiting || got.Process != s.process || !got.Shared {
			t.Errorf("%s %s (%s) of %v, %v; want %s %s", got.Status, got.WaitingFor, got.Evidence, got.Process, err, status, waiting)
		}
	}
	want(adapters.Working, "")
	s.say("/api/session/"+sesA+"/permission", `{"data":[{"id":"per_1","sessionID":"`+sesA+`","action":"shell","resources":["rm *"]}]}`)
	want(adapters.Waiting, adapters.ForPermission)
	if asked := s.asked[0]; asked != "GET /api/info opencode:secret " {
		t.Errorf("asked first %q", asked)
	}
	s.say("/api/session/active", `{"data":{}}`)
	want(adapters.Working, "") // it is claimed, and about to be resumed
	at := time.Now().UnixMilli()
	s.exec("UPDATE session_v2 SET time_suspended = NULL, time_idle = ?, idle_outcome = 'interrupted'", at)
	want(adapters.Idle, "")
}

// A call that may ask, of a service that can't be asked, is not known to work.
func TestServiceIsNotAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		want    adapters.Status
	}{
		"a tool with a form":              {`{"type":"tool","id":"c1","name":"github_create","state":{"status":"running","input":{}},"time":{"created":1}}`, adapters.Unknown},
		"a file is changed":               {`{"type":"tool","id":"c1","name":"edit","state":{"status":"running","input":{}},"time":{"created":1}}`, adapters.Unknown},
		"a question":                      {`{"type":"tool","id":"c1","name":"question","state":{"status":"running","input":{}},"time":{"created":1}}`, adapters.Waiting},
		"the model still writes":          {`{"type":"tool","id":"c1","name":"edit","state":{"status":"streaming"},"time":{"created":1}}`, adapters.Working},
		"a sub-agent that is known":       {`{"type":"tool","id":"c1","name":"subagent","state":{"status":"running","metadata":{"sessionID":"` + sesB + `"}},"time":{"created":1}}`, adapters.Working},
		"an answer without a call so far": {`{"type":"text","text":"well"}`, adapters.Working},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, "2.0.12")
			must.Do(t, os.Remove(filepath.Join(s.home, ".local", "state", "opencode", "service.json")))
			at := time.Now().Add(-time.Minute).UnixMilli()
			s.exec("UPDATE session_message SET data = ? WHERE type = 'assistant'", fmt.Sprintf(`{"time":{"created":%d},"content":[%s]}`, at, tt.content))
			got, _ := s.look(t)
			if got.Status != tt.want || tt.want == adapters.Unknown && !strings.Contains(got.Evidence, "could not be asked") {
				t.Errorf("%s (%s), want %s", got.Status, got.Evidence, tt.want)
			}
		})
	}
}

// A registration is used only if it is the process's own and of this machine, and nobody else can
// have written it. Nothing is sent otherwise, and the password to no other process.
func TestRegistration(t *testing.T) {
	good := func(s *service) map[string]any {
		return map[string]any{"version": "2.0.12", "url": s.url, "pid": s.process.PID, "password": "secret"}
	}
	for name, change := range map[string]func(s *service, r map[string]any) (mode os.FileMode){
		"of another process": func(_ *service, r map[string]any) os.FileMode { r["pid"] = 1; return 0o600 },
		"others can read it": func(*service, map[string]any) os.FileMode { return 0o644 },
		"another machine":    func(_ *service, r map[string]any) os.FileMode { r["url"] = "http://192.0.2.1:49375"; return 0o600 },
		"a name": func(_ *service, r map[string]any) os.FileMode {
			r["url"] = "http://localhost.example:49375"
			return 0o600
		},
		"a path": func(s *service, r map[string]any) os.FileMode { r["url"] = s.url + "/x"; return 0o600 },
		"another listener": func(s *service, _ map[string]any) os.FileMode {
			s.adapter.serves = proc.CheckListenedBy
			return 0o600
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, "2.0.12")
			r := good(s)
			s.register(r, change(s, r))
			got, _ := s.look(t)
			if got.Status != adapters.Working || got.Process != s.process || len(s.asked) > 0 {
				t.Errorf("%s (%s), asked %q", got.Status, got.Evidence, s.asked)
			}
			if err := s.adapter.Stop(t.Context(), got); err == nil || len(s.asked) > 0 {
				t.Errorf("stop: %v, asked %q", err, s.asked)
			}
		})
	}
	s := newService(t, "2.0.12")
	s.say("/api/info", `{"version":"2.0.12","pid":1}`)
	if got, err := s.look(t); got.Status != adapters.Working || !errors.Is(err, adapters.ErrFormat) || len(s.asked) != 1 {
		t.Errorf("another service: %s, %v, asked %q", got.Status, err, s.asked)
	}
}

// What is answered, prompted and ended in a session, in the words of each version.
func TestServiceOrders(t *testing.T) {
	for version, word := range map[string]string{"2.0.12": "decision", "2.0.3": "reply", "1.18.18": "reply"} {
		t.Run(version, func(t *testing.T) {
			s := newService(t, version)
			s.say("/api/session/"+sesA+"/question", `{"data":[]}`)
			s.say("/api/session/"+sesA+"/permission", `{"data":[{"id":"per_1","action":"shell","resources":["rm *"],"source":{"callID":"c1"}}]}`)
			s.say("/api/session/"+sesA+"/message", `{"data":[{"type":"assistant","content":[{"type":"tool","id":"c1","name":"shell","state":{"status":"running","input":{"command":"rm -r x"}}}]}]}`)
			s.say("/api/session/"+sesA+"/permission/per_1/reply", "")
			s.say("/api/session/"+sesA+"/interrupt", "")
			s.say("/api/session/"+sesA+"/prompt", "{}")
			got, err := s.look(t)
			must.Do(t, err)
			list, err := s.adapter.Pending(t.Context(), got)
			if err != nil || len(list) != 1 || list[0].Text != "rm -r x" || !list[0].CanAllow || list[0].Kind != adapters.AsksCommand {
				t.Fatalf("%+v, %v", list, err)
			}
			if _, err := s.adapter.Answer(t.Context(), got, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); err != nil {
				t.Error(err)
			}
			if p := s.posted(); p != "POST /api/session/"+sesA+"/permission/per_1/reply opencode:secret {\""+word+"\":\"once\"}" {
				t.Errorf("answered %q", p)
			}
			if err := s.adapter.Send(t.Context(), got, "next"); !errors.Is(err, adapters.ErrBusy) {
				t.Errorf("sent: %v", err)
			}
			prompt := map[bool]string{true: `{"delivery":"queue","text":"next"}`, false: `{"delivery":"queue","prompt":{"text":"next"}}`}[version[0] == '2']
			if err := s.adapter.Queue(t.Context(), got, "next"); err != nil || !strings.HasSuffix(s.posted(), "/prompt opencode:secret "+prompt) {
				t.Errorf("%v, %q", err, s.posted())
			}
			if err := s.adapter.Stop(t.Context(), got); err != nil || !strings.HasPrefix(s.posted(), "POST /api/session/"+sesA+"/interrupt ") {
				t.Errorf("%v, %q", err, s.posted())
			}
		})
	}
}

// A command whose text is not known can only be denied, and a form of 2.0 only be cancelled.
func TestServiceCanOnlyDeny(t *testing.T) {
	s := newService(t, "2.0.12")
	s.say("/api/session/"+sesA+"/form", `{"data":[{"id":"frm_1"}]}`)
	s.say("/api/session/"+sesA+"/form/frm_1/cancel", "")
	s.say("/api/session/"+sesA+"/permission", `{"data":[{"id":"per_1","action":"shell","resources":["rm *"],"source":{"callID":"gone"}}]}`)
	s.say("/api/session/"+sesA+"/message", `{"data":[]}`)
	got, _ := s.look(t)
	list, err := s.adapter.Pending(t.Context(), got)
	if err != nil || len(list) != 2 || list[0].CanAllow || !list[0].CanDeny || list[1].CanAllow || len(list[1].Questions) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := s.adapter.Answer(t.Context(), got, list[1], adapters.Decision{Verdict: adapters.Deny}); err != nil || !strings.Contains(s.posted(), "/form/frm_1/cancel ") {
		t.Errorf("%v, %q", err, s.posted())
	}
}

// The questions of 2.0 are forms: each field is answered under its key. A form with other fields can only be cancelled.
func TestForm(t *testing.T) {
	const questions = `{"key":"q0","title":"Colour","description":"Which colour?","type":"string","options":[{"value":"red","label":"red","description":"warm"},{"value":"blue","label":"blue"}],"custom":true},` +
		`{"key":"q1","title":"Tools","description":"Which tools?","type":"multiselect","options":[{"value":"a","label":"a"},{"value":"b","label":"b"}]}`
	for name, c := range map[string]struct {
		fields string
		want   string // what is posted; empty: it can't be answered
	}{
		"questions":             {questions, `{"answer":{"q0":"green","q1":["a","b"]}}`},
		"a number":              {questions + `,{"key":"n","type":"number"}`, ""},
		"a condition":           {`{"key":"q0","type":"string","when":{"key":"q1","op":"eq","value":"a"}}`, ""},
		"other values":          {`{"key":"q0","type":"string","options":[{"value":"1","label":"red"}]}`, ""},
		"a link":                {`{"key":"q0","type":"external","url":"https://example.com"}`, ""},
		"nothing that is known": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, "2.0.12")
			at := "/api/session/" + sesA + "/form"
			s.say(at, `{"data":[{"id":"frm_1","sessionID":"`+sesA+`","title":"Questions","mode":"form","fields":[`+c.fields+`]}]}`)
			s.say(at+"/frm_1/reply", "")
			s.say("/api/session/"+sesA+"/permission", `{"data":[]}`)
			got, _ := s.look(t)
			if got.WaitingFor != adapters.ForQuestion {
				t.Errorf("%s %s: %s", got.Status, got.WaitingFor, got.Evidence)
			}
			list, err := s.adapter.Pending(t.Context(), got)
			if err != nil || len(list) != 1 || !list[0].CanDeny || (len(list[0].Questions) == 2) != (c.want != "") {
				t.Fatalf("%+v, %v", list, err)
			}
			if c.want == "" {
				return
			}
			if q := list[0].Questions[0]; q.Header != "Colour" || q.Text != "Which colour?" || !q.FreeText || q.Several || q.Options[0].Says != "warm" {
				t.Errorf("%+v", q)
			}
			if _, err := s.adapter.Answer(t.Context(), got, list[0], adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"green"}, {"a", "b"}}}); err != nil ||
				s.posted() != "POST "+at+"/frm_1/reply opencode:secret "+c.want {
				t.Errorf("%v, %q", err, s.posted())
			}
		})
	}
}

// A session that was just made in a server has no turn: nobody has written a prompt.
func TestJustMadeInServer(t *testing.T) {
	for _, command := range []string{"acp", "serve"} {
		e := newElsewhere(t)
		id := e.session(e.now.UnixMilli())
		process := e.open(time.Minute, command)
		sessions, _, err := asked(t, e.adapter, adapters.Query{})
		if got := sessions[id]; err != nil || got.Status != adapters.Idle || got.Process != process {
			t.Errorf("%s: %s (%s), %v", command, got.Status, got.Evidence, err)
		}
	}
	e := newElsewhere(t)
	e.fixture.Procs.Start(scene.Spec{Comm: "lildax", Exe: "/opt/lildax", CWD: e.home, Args: []string{"lildax", "serve", "--register"},
		Env: []string{"HOME=" + e.home}, Files: []string{filepath.Join(e.data, "opencode.db")}, Started: e.now.Add(-time.Minute)})
	id := e.session(e.now.UnixMilli())
	if sessions, _, err := asked(t, e.adapter, adapters.Query{}); err != nil || sessions[id].Status != adapters.Idle {
		t.Errorf("the preview: %s (%s), %v", sessions[id].Status, sessions[id].Evidence, err)
	}
}

// A launch of 2.0 beside its service has an id that was chosen: the service makes the session right before the start, and not
// where the command is only shown. 1.x knows nothing of the service.
func TestLaunchWithOwnID(t *testing.T) {
	for says, own := range map[string]bool{"echo opencode v2.0.12": true, "echo 2.0.3": true, "echo 1.18.33": false} {
		s := newService(t, "2.0.12")
		s.say("/api/info", `{"version":"2.0.12","pid":`+fmt.Sprint(s.process.PID)+`}`)
		c, err := s.adapter.Command(program(t, says), adapters.Task{Prompt: "go", Dir: "/home/dev/p"})
		if err != nil || (c.Session != "") != own || (c.Before != nil) != own || s.posted() != "" {
			t.Fatalf("%s: %+v, %v, posted %q", says, c, err, s.posted())
		}
		if !own {
			continue
		}
		if !isSession(c.Session) || !slices.Equal(c.Args, []string{"run", "--format", "json", "--session", c.Session}) || c.Stdin != "go" {
			t.Errorf("%+v", c)
		}
		if err := c.Before(t.Context()); err == nil {
			t.Error("a service that refuses is no error")
		}
		s.say("/api/session", `{"data":{"id":"ses_another"}}`)
		if err := c.Before(t.Context()); err == nil || !strings.Contains(err.Error(), "another session") {
			t.Errorf("another session: %v", err)
		}
		s.say("/api/session", `{"data":{"id":"`+c.Session+`"}}`)
		if err := c.Before(t.Context()); err != nil || s.posted() != `POST /api/session opencode:secret {"id":"`+c.Session+`","location":{"directory":"/home/dev/p"}}` {
			t.Errorf("%v, %q", err, s.posted())
		}
		resumed, err := s.adapter.Command(program(t, says), adapters.Task{Prompt: "go", Resume: sesB})
		if err != nil || resumed.Session != sesB || resumed.Before != nil {
			t.Errorf("%+v, %v", resumed, err)
		}
	}
	s := newService(t, "2.0.12")
	s.say("/api/info", `{"version":"2.0.12","pid":1}`)
	if c, err := s.adapter.Command(program(t, "echo 2.0.12"), adapters.Task{Prompt: "go", Dir: "/home/dev/p"}); err != nil || c.Session != "" {
		t.Errorf("another process answers: %+v, %v", c, err)
	}
}
