package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

// asking is a daemon whose thread waits for decisions, as 0.169.0 does: it repeats its
// requests to everyone who joins, takes the first answer to each, passes over all others, and
// tells all who joined.
type asking struct {
	t        *testing.T
	status   string // of the thread
	mu       sync.Mutex
	requests map[string]string // by id: method and params, as members of a message
	taken    map[string]string // by id: the result
	joined   map[*websocket.Conn]bool
	calls    []string
	silent   bool // it resolves nothing
}

func ask(t *testing.T, r *adaptertest.Recording, requests map[string]string) *asking {
	d := &asking{t: t, status: `{"type":"active","activeFlags":["waitingOnApproval"]}`, requests: requests,
		taken: map[string]string{}, joined: map[*websocket.Conn]bool{}}
	serve(t, r.Home, d.handle)
	return d
}

func (d *asking) handle(ctx context.Context, c *websocket.Conn) {
	defer func() {
		d.mu.Lock()
		delete(d.joined, c)
		d.mu.Unlock()
	}()
	c.SetReadLimit(32 << 20)
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(b, &m); err != nil {
			d.t.Error(err)
			return
		}
		d.mu.Lock()
		d.calls = append(d.calls, m.Method)
		d.obey(ctx, c, m.Method, string(m.ID), string(m.Result))
		d.mu.Unlock()
	}
}

func (d *asking) obey(ctx context.Context, c *websocket.Conn, method, id, result string) {
	say := func(c *websocket.Conn, format string, args ...any) {
		_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...))
	}
	switch method {
	case "initialize", "turn/start", "thread/queue/add":
		say(c, `{"id":%s,"result":{}}`, id)
	case "initialized":
	case "thread/list":
		say(c, `{"id":%s,"result":{"data":[{"id":%q,"status":%s}]}}`, id, waitingThread, d.status)
	case "thread/resume":
		d.joined[c] = true
		for request, members := range d.requests {
			say(c, `{"id":%s,%s}`, request, members)
		}
		say(c, `{"id":%s,"result":{}}`, id)
	case "thread/unsubscribe":
		delete(d.joined, c)
		say(c, `{"id":%s,"result":{}}`, id)
	case "": // an answer
		if _, waits := d.requests[id]; !waits {
			return
		}
		delete(d.requests, id)
		d.taken[id] = result
		if d.silent {
			return
		}
		for o := range d.joined {
			say(o, `{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%s}}`, waitingThread, id)
			if strings.Contains(result, "decline") {
				say(o, `{"method":"item/completed","params":{"threadId":%q,"item":{"id":"item%s","status":"declined"}}}`, waitingThread, id)
			}
		}
	default:
		d.t.Errorf("the daemon was asked to %s", method)
	}
}

func (d *asking) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *asking) took() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.taken)
}

func (d *asking) called() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// command returns the members of a request for a command.
func command(id, text, more string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`"method":%q,"params":{"threadId":%q,"turnId":"t","itemId":"item%s","startedAtMs":1795236204750,"command":%s,"cwd":"/home/dev/proj"%s}`,
		asksCommand, waitingThread, id, b, more)
}

func waiting(t *testing.T) (*adaptertest.Recording, *Adapter, adapters.Session) {
	t.Helper()
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	s := threadNamed(t, r, waitingThread)
	s.Status = adapters.Waiting
	return r, New(r.Config()), s
}

func one(t *testing.T, a *Adapter, s adapters.Session) adapters.Request {
	t.Helper()
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

var (
	allow = adapters.Decision{Verdict: adapters.AllowOnce}
	deny  = adapters.Decision{Verdict: adapters.Deny}
)

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		decision adapters.Decision
		want     string
	}{{allow, `{"decision":"accept"}`}, {deny, `{"decision":"decline"}`}} {
		r, a, s := waiting(t)
		d := ask(t, r, map[string]string{"3": command("3", "touch x\n\u202e", `,"reason":"why","availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{}},"cancel"]`)})
		shown := one(t, a, s)
		if shown.ID != "3/item3" || shown.Kind != adapters.AsksCommand || shown.Text != "touch x\n\u202e" || shown.Folder != "/home/dev/proj" ||
			shown.Reason != "why" || !shown.CanAllow || !shown.CanDeny || shown.AskedAt.UnixMilli() != 1795236204750 {
			t.Errorf("%+v", shown)
		}
		got, err := a.Answer(t.Context(), s, shown, tt.decision)
		if err != nil || !got.Confirmed || d.took()["3"] != tt.want {
			t.Errorf("%+v, %v, took %q", got, err, d.took())
		}
		if _, err := a.Answer(t.Context(), s, shown, tt.decision); err == nil {
			t.Error("a second answer")
		}
	}
}

// A request that is not as the user saw it is not answered.
func TestAnswerOfAnotherRequest(t *testing.T) {
	for name, now := range map[string]map[string]string{
		"another command":        {"3": command("3", "touch y", "")},
		"another folder":         {"3": strings.Replace(command("3", "touch x", ""), "/proj", "/other", 1)},
		"more rights":            {"3": command("3", "touch x", `,"additionalPermissions":{"network":{"enabled":true}}`)},
		"the same, asked again":  {"4": command("4", "touch x", "")},
		"another id":             {"4": strings.ReplaceAll(command("3", "touch x", ""), "item4", "item3")},
		"the same id, next item": {"3": command("5", "touch x", "")},
	} {
		r, a, s := waiting(t)
		d := ask(t, r, map[string]string{"3": command("3", "touch x", "")})
		shown := one(t, a, s)
		d.set(func() { d.requests = now })
		_, err := a.Answer(t.Context(), s, shown, allow)
		if !errors.Is(err, adapters.ErrNotPending) && !errors.Is(err, adapters.ErrRequestChanged) || len(d.took()) > 0 {
			t.Errorf("%s: %v, took %q", name, err, d.took())
		}
	}
}

func TestAnswerRefused(t *testing.T) {
	r, a, s := waiting(t)
	d := ask(t, r, map[string]string{"3": command("3", "touch x", "")})
	shown := one(t, a, s)
	for name, decision := range map[string]adapters.Decision{
		"no verdict": {}, "always": {Verdict: "acceptForSession"}, "a reply": {Verdict: adapters.Reply, Answers: [][]string{{"accept"}}},
		"with answers": {Verdict: adapters.AllowOnce, Answers: [][]string{{"x"}}},
	} {
		if _, err := a.Answer(t.Context(), s, shown, decision); !errors.Is(err, adapters.ErrNoSuchAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.set(func() { d.status = `{"type":"notLoaded"}` })
	if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("not loaded: %v", err)
	}
	d.set(func() { d.status = `{"type":"active","activeFlags":[]}` })
	if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, adapters.ErrNotPending) {
		t.Errorf("nothing waits: %v", err)
	}
	if list, err := a.Pending(t.Context(), s); err != nil || list != nil {
		t.Errorf("nothing waits: %v, %v", list, err)
	}
	d.set(func() { d.status = `{"type":"active","activeFlags":["waitingOnApproval"]}` })
	d.set(func() { d.silent = true }) // it was answered elsewhere in the same moment, or the daemon is another one
	if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, adapters.ErrUnconfirmed) {
		t.Errorf("nothing resolved: %v", err)
	}
	for _, call := range d.called() {
		if call == "turn/interrupt" || call == "turn/start" {
			t.Errorf("called %s", call)
		}
	}
}

// Of several that answer at the same time one wins, and the others learn of it.
func TestAnswerTogether(t *testing.T) {
	for range 20 {
		r, a, s := waiting(t)
		d := ask(t, r, map[string]string{"3": command("3", "touch x", "")})
		shown := one(t, a, s)
		var group sync.WaitGroup
		results := map[adapters.Verdict]error{}
		var mu sync.Mutex
		for _, decision := range []adapters.Decision{allow, deny} {
			group.Go(func() {
				_, err := New(r.Config()).Answer(t.Context(), s, shown, decision)
				mu.Lock()
				defer mu.Unlock()
				results[decision.Verdict] = err
			})
		}
		group.Wait()
		if won := strings.Contains(d.took()["3"], "accept"); won && results[adapters.AllowOnce] != nil || !won && results[adapters.Deny] != nil || !won && results[adapters.AllowOnce] == nil {
			t.Fatalf("took %q: %v", d.took(), results)
		}
	}
}

// item begins the parameters of a request.
const item = `"params":{"threadId":"` + waitingThread + `","turnId":"t","itemId":"call1"`

func TestAnswerKinds(t *testing.T) {
	r, a, s := waiting(t)
	patch := `{"timestamp":"2026-11-21T05:09:00Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"call1","input":"*** Begin Patch\n` +
		strings.Repeat("+a line of it\\n", 2000) + `*** End Patch"}}` + "\n"
	f, err := os.OpenFile(s.Files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(patch); err != nil {
		t.Fatal(err)
	}
	f.Close()
	huge := strings.Repeat("x", 1<<20) + "; rm -rf end"
	d := ask(t, r, nil)
	for name, tt := range map[string]struct {
		request string
		want    func(adapters.Request) bool
	}{
		"file change": {`"method":"` + asksFiles + `",` + item + `}`, func(r adapters.Request) bool {
			return r.Kind == adapters.AsksFileChange && r.CanAllow && strings.HasSuffix(r.Text, "*** End Patch") && len(r.Text) > 20000
		}},
		"unknown change": {`"method":"` + asksFiles + `",` + strings.Replace(item, "call1", "call2", 1) + `}`, func(r adapters.Request) bool {
			return !r.CanAllow && r.CanDeny && r.Text != ""
		}},
		"a root": {`"method":"` + asksFiles + `",` + item + `,"grantRoot":"/etc"}`, func(r adapters.Request) bool {
			return !r.CanAllow && strings.Contains(r.Text, "/etc")
		}},
		"rights": {`"method":"` + asksRights + `",` + item + `,"permissions":{}}`, func(r adapters.Request) bool {
			return !r.CanAllow && !r.CanDeny && r.Kind == adapters.AsksPermission
		}},
		"input to a terminal": {command("1", "bash", `,"kind":"writeStdin"`), func(r adapters.Request) bool { return !r.CanAllow && r.CanDeny }},
		"only for good":       {command("1", "ls", `,"availableDecisions":["acceptForSession","cancel"]`), func(r adapters.Request) bool { return !r.CanAllow }},
		"no command":          {command("1", "", ""), func(r adapters.Request) bool { return !r.CanAllow }},
		"1 MB":                {command("1", huge, ""), func(r adapters.Request) bool { return r.CanAllow && r.Text == huge }},
	} {
		d.set(func() { d.requests = map[string]string{"1": tt.request} })
		if got := one(t, a, s); !tt.want(got) {
			t.Errorf("%s: %.500v", name, got)
		}
	}
}

func TestAnswerQuestions(t *testing.T) {
	r, a, s := waiting(t)
	d := ask(t, r, nil)
	seven := map[string]string{"7": `"method":"` + asksUser + `",` + item + `,"isBlocking":true,"questions":[
		{"id":"q1","header":"Colour","question":"Which?","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":""}]},
		{"id":"q2","header":"Name","question":"How?","isOther":true}]}`}
	d.set(func() { d.requests = seven })
	shown := one(t, a, s)
	if shown.Kind != adapters.AsksQuestion || len(shown.Questions) != 2 || shown.Questions[0].Options[1].Label != "Blue" || shown.Questions[0].FreeText || !shown.Questions[1].FreeText {
		t.Errorf("%+v", shown)
	}
	for _, wrong := range [][][]string{{{"Green"}, {"x"}}, {{"Red"}}, {{"Red", "Blue"}, {"x"}}, {{"Red"}, {""}}, nil} {
		if _, err := a.Answer(t.Context(), s, shown, adapters.Decision{Verdict: adapters.Reply, Answers: wrong}); !errors.Is(err, adapters.ErrNoSuchAnswer) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, err := a.Answer(t.Context(), s, shown, adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}, {"mine"}}}); err != nil {
		t.Error(err)
	}
	if got := d.took()["7"]; got != `{"answers":{"q1":{"answers":["Blue"]},"q2":{"answers":["mine"]}}}` {
		t.Errorf("answered %s", got)
	}
}

func TestPendingWithoutDaemon(t *testing.T) {
	r, a, s := waiting(t)
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("%v", err)
	}
	d := ask(t, r, map[string]string{"1": command("1", "ls", "")})
	if err := os.Chmod(filepath.Join(r.Home, ".codex", "app-server-control"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) || !errors.Is(err, errForeign) || len(d.called()) > 0 {
		t.Errorf("%v, called %q", err, d.called())
	}
	s.Status = adapters.Working
	if list, err := a.Pending(t.Context(), s); list != nil || err != nil || len(d.called()) > 0 {
		t.Errorf("%v, %v, called %q", list, err, d.called())
	}
}

func TestPrompt(t *testing.T) {
	r, a, s := waiting(t)
	d := ask(t, r, nil)
	if err := a.Send(t.Context(), s, "go on"); !errors.Is(err, adapters.ErrBusy) {
		t.Errorf("busy: %v", err)
	}
	if err := a.Queue(t.Context(), s, "go on"); err != nil {
		t.Error(err)
	}
	d.set(func() { d.status = `{"type":"idle"}` })
	if err := a.Send(t.Context(), s, "go on"); err != nil {
		t.Error(err)
	}
	d.set(func() { d.status = `{"type":"notLoaded"}` })
	if err := a.Send(t.Context(), s, "go on"); err == nil || !strings.Contains(err.Error(), "does not have this thread open") {
		t.Errorf("not loaded: %v", err)
	}
	if got := strings.Join(d.called(), " "); !strings.Contains(got, "thread/queue/add") || strings.Count(got, "turn/start") != 1 || strings.Contains(got, "thread/resume") {
		t.Errorf("called %s", got)
	}
}
