package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// asking is `opencode serve` with requests, which takes one answer to each id, as 1.18.33 does.
type asking struct {
	mu          sync.Mutex
	permissions []string // as JSON
	questions   []string
	inputs      map[string]string // by message: the arguments of its call "c"
	busy        bool
	taken       []string // path and body
}

func (d *asking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := func(of []string) { fmt.Fprintf(w, "[%s]", strings.Join(of, ",")) }
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path == "/permission":
		list(d.permissions)
	case r.URL.Path == "/question":
		list(d.questions)
	case r.Method == http.MethodGet && len(parts) == 4 && parts[2] == "message" && d.inputs[parts[3]] != "":
		fmt.Fprintf(w, `{"info":{},"parts":[{"type":"text"},{"type":"tool","callID":"other","state":{"input":{"command":"no"}}},{"type":"tool","callID":"c","state":{"input":%s}}]}`, d.inputs[parts[3]])
	case r.URL.Path == "/session/status" && d.busy:
		fmt.Fprintf(w, `{%q:{"type":"busy"}}`, "ses_x")
	case r.URL.Path == "/session/status":
		fmt.Fprint(w, "{}")
	case r.Method == http.MethodPost && len(parts) == 3 && (parts[0] == "permission" || parts[0] == "question"):
		of := &d.permissions
		if parts[0] == "question" {
			of = &d.questions
		}
		i := slices.IndexFunc(*of, func(p string) bool { return strings.Contains(p, `"`+parts[1]+`"`) })
		if i < 0 {
			http.Error(w, `{"name":"PermissionNotFoundError"}`, http.StatusNotFound)
			return
		}
		*of = slices.Delete(slices.Clone(*of), i, i+1)
		d.taken = append(d.taken, r.URL.Path+" "+string(body))
		fmt.Fprint(w, "true")
	case r.Method == http.MethodPost && parts[len(parts)-1] == "prompt_async":
		d.taken = append(d.taken, r.URL.Path+" "+string(body))
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "no", http.StatusBadRequest)
	}
}

// asker is a session in the hands of d.
func asker(t *testing.T, d *asking) (*Adapter, adapters.Session) {
	t.Helper()
	listener := httptest.NewServer(d)
	t.Cleanup(listener.Close)
	f := scene.New(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(listener.URL, "http://"), ":")
	id := f.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev", Args: []string{"opencode", "serve", "--port", port},
		Env: []string{"HOME=" + f.Home}, Started: time.Now().Add(-time.Minute)})
	a := New(adapters.Config{Home: f.Home, Env: func(string) string { return "" }, Table: f.Table})
	a.serves = anyProcess
	return a, adapters.Session{
		ID: "ses_x", Agent: Name,
		State: adapters.State{Status: adapters.Waiting},
		Owner: adapters.Owner{Process: id},
		Place: adapters.Place{CWD: "/home/dev/p"},
	}
}

func bash(id, session, command string) string {
	b, _ := json.Marshal(command)
	return fmt.Sprintf(`{"id":%q,"sessionID":%q,"permission":"bash","patterns":["x"],"metadata":{"command":%s},"always":["x *"]}`, id, session, b)
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		decision adapters.Decision
		want     string
	}{
		{adapters.Decision{Verdict: adapters.AllowOnce}, `/permission/per_1/reply {"reply":"once"}`},
		{adapters.Decision{Verdict: adapters.Deny}, `/permission/per_1/reply {"reply":"reject"}`},
		{adapters.Decision{Verdict: adapters.Deny, Message: "no"}, `/permission/per_1/reply {"message":"no","reply":"reject"}`},
	} {
		d := &asking{permissions: []string{bash("per_0", "ses_other", "ls"), bash("per_1", "ses_x", "touch x\n\u202e")}}
		a, s := asker(t, d)
		list, err := a.Pending(t.Context(), s)
		if err != nil || len(list) != 1 || list[0].Text != "touch x\n\u202e" || list[0].Kind != adapters.AsksCommand || list[0].Folder != s.CWD || !list[0].CanAllow {
			t.Fatalf("%+v, %v", list, err)
		}
		if got, err := a.Answer(t.Context(), s, list[0], tt.decision); err != nil || !got.Confirmed || !slices.Equal(d.taken, []string{tt.want}) {
			t.Errorf("%+v, %v, took %q", got, err, d.taken)
		}
		if _, err := a.Answer(t.Context(), s, list[0], tt.decision); !errors.Is(err, adapters.ErrNotPending) || len(d.taken) != 1 {
			t.Errorf("a second time: %v", err)
		}
	}
}

func TestAnswerKinds(t *testing.T) {
	huge := strings.Repeat("x", 1<<20) + "end"
	d := &asking{permissions: []string{
		bash("per_1", "ses_x", huge),
		`{"id":"per_2","sessionID":"ses_x","permission":"edit","patterns":["a.go"],"metadata":{"filepath":"/home/dev/p/a.go","diff":"+x"}}`,
		`{"id":"per_3","sessionID":"ses_x","permission":"external_directory","patterns":["/etc/*"],"metadata":{"parentDir":"/etc"}}`,
		`{"id":"per_4","sessionID":"ses_x","permission":"bash","patterns":["x"],"metadata":[]}`,
	}, questions: []string{`{"id":"que_1","sessionID":"ses_x","questions":[
		{"question":"Which?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue"}],"custom":false},
		{"question":"How?","header":"","options":[],"multiple":true}]}`}}
	a, s := asker(t, d)
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 5 {
		t.Fatalf("%d, %v", len(list), err)
	}
	if list[0].Text != huge || list[1].Kind != adapters.AsksFileChange || !strings.HasSuffix(list[1].Text, "+x") ||
		!strings.Contains(list[2].Text, "/etc/*") || list[3].Kind != adapters.AsksPermission || list[3].Text == "" || list[3].CanAllow || !list[3].CanDeny || !list[2].CanAllow {
		t.Errorf("%.300v", list)
	}
	q := list[4]
	if q.Kind != adapters.AsksQuestion || q.CanAllow || q.Questions[0].FreeText || !q.Questions[1].FreeText || !q.Questions[1].Several {
		t.Errorf("%+v", q)
	}
	if _, err := a.Answer(t.Context(), s, q, adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNoSuchAnswer) {
		t.Errorf("a question was allowed: %v", err)
	}
	reply := adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}, {"a", "b"}}}
	if _, err := a.Answer(t.Context(), s, q, reply); err != nil || d.taken[0] != `/question/que_1/reply {"answers":[["Blue"],["a","b"]]}` {
		t.Errorf("%v, took %q", err, d.taken)
	}
	if _, err := a.Answer(t.Context(), s, list[1], reply); !errors.Is(err, adapters.ErrNoSuchAnswer) {
		t.Errorf("a permission was replied to: %v", err)
	}
}

// What a command does depends on the folder in which it runs, which only its call names.
func TestAnswerShowsFolder(t *testing.T) {
	called := func(id, message string) string {
		return strings.Replace(bash(id, "ses_x", "rm -r data"), `"always"`, fmt.Sprintf(`"tool":{"messageID":%q,"callID":"c"},"always"`, message), 1)
	}
	d := &asking{permissions: []string{called("per_1", "msg_plain"), called("per_2", "msg_below"), called("per_3", "msg_away"), called("per_4", "msg_more"), called("per_5", "msg_gone")},
		inputs: map[string]string{"msg_plain": `{"command":"rm -r data","description":"clean"}`, "msg_below": `{"command":"rm -r data","workdir":"../other"}`,
			"msg_away": `{"command":"rm -r data","workdir":"/srv","timeout":1}`, "msg_more": `{"command":"rm -r data","env":{"A":"b"}}`}}
	a, s := asker(t, d)
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, folder := range []string{"/home/dev/p", "/home/dev/other", "/srv"} {
		if r := list[i]; r.Kind != adapters.AsksCommand || r.Folder != folder || r.Text != "rm -r data" || !r.CanAllow {
			t.Errorf("%+v, want it in %s", r, folder)
		}
	}
	if more := list[3]; more.Kind != adapters.AsksPermission || !strings.Contains(more.Text, `"env"`) || !more.CanAllow {
		t.Errorf("another argument: %+v", more)
	}
	if gone := list[4]; gone.Kind != adapters.AsksPermission || !strings.Contains(gone.Text, "rm -r data") || gone.CanAllow || !gone.CanDeny {
		t.Errorf("a call that can't be read: %+v", gone)
	}
}

// A request that is not as the user saw it is not answered, and of two answers one counts.
func TestAnswerRaces(t *testing.T) {
	allow := adapters.Decision{Verdict: adapters.AllowOnce}
	d := &asking{permissions: []string{bash("per_1", "ses_x", "touch x")}}
	a, s := asker(t, d)
	shown, _ := a.Pending(t.Context(), s)
	d.permissions = []string{bash("per_1", "ses_x", "touch y")}
	if _, err := a.Answer(t.Context(), s, shown[0], allow); !errors.Is(err, adapters.ErrRequestChanged) {
		t.Errorf("changed: %v", err)
	}
	d.permissions = []string{bash("per_2", "ses_x", "touch x")}
	if _, err := a.Answer(t.Context(), s, shown[0], allow); !errors.Is(err, adapters.ErrNotPending) {
		t.Errorf("replaced: %v", err)
	}
	d.permissions = []string{bash("per_1", "ses_x", "touch x")}
	var group sync.WaitGroup
	errs := make(chan error, 6)
	for range cap(errs) {
		group.Go(func() {
			_, err := a.Answer(t.Context(), s, shown[0], allow)
			errs <- err
		})
	}
	group.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, adapters.ErrNotPending) {
			t.Error(err)
		}
	}
	if won != 1 || len(d.taken) != 1 {
		t.Errorf("%d won, took %q", won, d.taken)
	}
}

func TestAnswerElsewhere(t *testing.T) {
	d := &asking{permissions: []string{bash("per_1", "ses_x", "touch x")}}
	a, s := asker(t, d)
	shown, _ := a.Pending(t.Context(), s)
	a.serves = func(netip.AddrPort, proc.Identity) error { return proc.ErrForeignListener }
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) || !errors.Is(err, proc.ErrForeignListener) {
		t.Errorf("a listener of another user: %v", err)
	}
	if _, err := a.Answer(t.Context(), s, shown[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrAnswerElsewhere) || len(d.taken) > 0 {
		t.Errorf("a listener of another user: %v", err)
	}
	s.Process.Start++
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("a process that is gone: %v", err)
	}
}

func TestPrompt(t *testing.T) {
	d := &asking{}
	a, s := asker(t, d)
	if err := a.Send(t.Context(), s, "go on"); err != nil || d.taken[0] != `/session/ses_x/prompt_async {"parts":[{"text":"go on","type":"text"}]}` {
		t.Errorf("%v, %q", err, d.taken)
	}
	d.busy = true
	if err := a.Send(t.Context(), s, "go on"); !errors.Is(err, adapters.ErrBusy) || len(d.taken) != 1 {
		t.Errorf("busy: %v", err)
	}
	if err := a.Queue(t.Context(), s, "later"); err != nil || len(d.taken) != 2 {
		t.Errorf("queue: %v", err)
	}
}
