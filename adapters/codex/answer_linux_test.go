package codex

import (
	"cmp"
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
	"rollcall/internal/must"
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
	// first are results of another client, by id: they reach the daemon right before an answer.
	first map[string]string
	// ends is how an item ends that was allowed, by members of an item; empty: it does not.
	ends string
	// slow reports that it records nothing of a command that was declined, and of replies.
	slow bool
	// rollout is the file of the thread, and refusal the output of a command that was declined.
	rollout, refusal string
	// begun is the item whose command has a process.
	begun string
	// runs reports that a command that was allowed has a process from then on.
	runs bool
	// items are further items of the turn, each after a comma.
	items string
	// hides reports that it does not show the items of a turn.
	hides bool
}

func ask(t *testing.T, r *adaptertest.Recording, requests map[string]string) *asking {
	d := &asking{t: t, status: `{"type":"active","activeFlags":["waitingOnApproval"]}`, requests: requests,
		taken: map[string]string{}, joined: map[*websocket.Conn]bool{}, ends: `"status":"completed","exitCode":0`,
		refusal: `exec_command failed: CreateProcess { message: "Rejected(\"rejected by user\")" }`}
	d.rollout = threadNamed(t, r, waitingThread).Files[0]
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
			Params struct {
				Page json.RawMessage `json:"initialTurnsPage"`
			}
		}
		if err := json.Unmarshal(b, &m); err != nil {
			d.t.Error(err)
			return
		}
		if m.Params.Page != nil {
			m.Method += " page"
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
	case "thread/resume page":
		if d.hides {
			say(c, `{"id":%s,"error":{"code":-32600,"message":"requires experimentalApi capability"}}`, id)
			return
		}
		say(c, `{"id":%s,"result":{"initialTurnsPage":{"data":[{"items":[{"id":"item3","processId":null},{"id":%q,"processId":"57047"}%s]}]}}}`, id, cmp.Or(d.begun, "other"), d.items)
	case "thread/unsubscribe":
		delete(d.joined, c)
		say(c, `{"id":%s,"result":{}}`, id)
	case "": // an answer
		members, waits := d.requests[id]
		if !waits {
			return
		}
		if first := d.first[id]; first != "" {
			result = first
		}
		delete(d.requests, id)
		d.taken[id] = result
		if d.silent {
			return
		}
		end := d.ends
		if strings.Contains(result, "decline") {
			end = ""
			if !d.slow { // only those hear of the end that had joined before the request
				d.record(fmt.Sprintf(`{"type":"function_call_output","call_id":"item%s","output":%q}`, id, d.refusal))
			}
		} else if d.runs {
			d.begun = "item" + id
		}
		if strings.Contains(members, asksUser) && !d.slow {
			d.record(fmt.Sprintf(`{"type":"function_call_output","call_id":"call1","output":%q}`, result))
		}
		for o := range d.joined {
			say(o, `{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%s}}`, waitingThread, id)
			if end != "" {
				say(o, `{"method":"item/completed","params":{"threadId":%q,"item":{"id":"item%s",%s}}}`, waitingThread, id, end)
			}
		}
	default:
		d.t.Errorf("the daemon was asked to %s", method)
	}
}

// record adds a record to the thread's rollout.
func (d *asking) record(payload string) {
	f, err := os.OpenFile(d.rollout, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"timestamp":"2026-11-21T05:09:00Z","type":"response_item","payload":%s}`+"\n", payload)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		d.t.Error(err)
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
	t.Parallel() // it waits for the daemon
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
	t.Parallel() // it waits for the daemon
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
	t.Parallel() // it waits for the daemon
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
	t.Parallel() // it waits for the daemon
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

// What the daemon says after a request is resolved decides whether the answer counted, and not
// that it is resolved: the other client's answer may have been first.
func TestAnswerOvertaken(t *testing.T) {
	t.Parallel() // it waits for the daemon
	const accept, decline = `{"decision":"accept"}`, `{"decision":"decline"}`
	for name, tt := range map[string]struct {
		decision adapters.Decision
		set      func(d *asking)
		want     error // nil: taken
	}{
		"denied, and a short command was allowed": {deny, func(d *asking) { d.first = map[string]string{"3": accept} }, adapters.ErrNotPending},
		"denied, and a long command was allowed": {deny, func(d *asking) {
			d.first = map[string]string{"3": accept}
			d.ends = ""
			d.runs = true
		}, adapters.ErrNotPending},
		"denied, and a command was allowed that failed": {deny, func(d *asking) {
			d.first, d.ends = map[string]string{"3": accept}, `"status":"failed","exitCode":1`
		}, adapters.ErrNotPending},
		"denied, and the daemon says no more": {deny, func(d *asking) { d.slow = true }, adapters.ErrUnconfirmed},
		"denied, allowed, and the daemon shows no process": {deny, func(d *asking) {
			d.first = map[string]string{"3": accept}
			d.ends = ""
			d.hides = true
		}, adapters.ErrUnconfirmed},
		"denied what ran in the sandbox, and it was denied":   {deny, func(d *asking) { d.begun = "item3" }, nil},
		"denied what ran in the sandbox, and nothing is said": {deny, func(d *asking) { d.begun, d.slow = "item3", true }, adapters.ErrUnconfirmed},
		"denied, and another answer failed":                   {deny, func(d *asking) { d.ends, d.first = `"status":"failed","exitCode":null`, map[string]string{"3": "{}"} }, nil},
		"denied":                                              {deny, func(*asking) {}, nil},

		"allowed, and it was denied":           {allow, func(d *asking) { d.first = map[string]string{"3": decline} }, adapters.ErrNotPending},
		"allowed, and another answer failed":   {allow, func(d *asking) { d.ends = `"status":"failed","exitCode":null` }, adapters.ErrNotPending},
		"allowed, and a long command runs":     {allow, func(d *asking) { d.ends, d.runs = "", true }, nil},
		"allowed, and the command failed":      {allow, func(d *asking) { d.ends = `"status":"failed","exitCode":1` }, nil},
		"allowed, and the daemon says no more": {allow, func(d *asking) { d.ends = "" }, adapters.ErrUnconfirmed},
		"allowed what ran in the sandbox, and nothing is said": {allow, func(d *asking) {
			d.begun, d.ends = "item3", ""
		}, adapters.ErrUnconfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, s := waiting(t)
			d := ask(t, r, map[string]string{"3": command("3", "touch x", "")})
			d.set(func() { tt.set(d) })
			got, err := a.Answer(t.Context(), s, one(t, a, s), tt.decision)
			if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || !got.Confirmed) {
				t.Errorf("%+v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// The end of a command proves nothing of a program that it started and that asked for itself.
func TestAnswerForPart(t *testing.T) {
	t.Parallel() // it waits for the daemon
	for name, more := range map[string]string{
		"a program of a command": `,"approvalId":"part"`, "a host": `,"networkApprovalContext":{"host":"example.com"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, s := waiting(t)
			d := ask(t, r, map[string]string{"3": command("3", "touch x", more)})
			d.set(func() { d.first = map[string]string{"3": `{"decision":"accept"}`} })
			if got, err := a.Answer(t.Context(), s, one(t, a, s), deny); !errors.Is(err, adapters.ErrUnconfirmed) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// item begins the parameters of a request.
const item = `"params":{"threadId":"` + waitingThread + `","turnId":"t","itemId":"call1"`

func TestAnswerKinds(t *testing.T) {
	r, a, s := waiting(t)
	patch := `{"timestamp":"2026-11-21T05:09:00Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"call1","input":"*** Begin Patch\n` +
		strings.Repeat("+a line of it\\n", 2000) + `*** End Patch"}}` + "\n"
	f, err := os.OpenFile(s.Files[0], os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	must.Get(f.WriteString(patch))(t)
	f.Close()
	huge := strings.Repeat("x", 1<<20) + "; rm -rf end"
	d := ask(t, r, nil)
	for name, tt := range map[string]struct {
		request string
		want    func(adapters.Request) bool
	}{
		"only recorded": {`"method":"` + asksFiles + `",` + item + `}`, func(r adapters.Request) bool {
			return r.Kind == adapters.AsksFileChange && !r.CanAllow && r.CanDeny && strings.HasSuffix(r.Text, "*** End Patch") && len(r.Text) > 20000
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
	reply := adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}, {"mine"}}}
	if result, err := a.Answer(t.Context(), s, shown, reply); err != nil || !result.Confirmed {
		t.Errorf("%+v, %v", result, err)
	}
	if got := d.took()["7"]; got != `{"answers":{"q1":{"answers":["Blue"]},"q2":{"answers":["mine"]}}}` {
		t.Errorf("answered %s", got)
	}
}

// TestReplyElsewhere: of two replies to one question the recorded one counted.
func TestReplyElsewhere(t *testing.T) {
	t.Parallel()
	question := `"method":"` + asksUser + `",` + item + `,"questions":[{"id":"q1","header":"Colour","question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]%s}]}`
	for name, tt := range map[string]struct {
		secret, first string
		slow          bool
		want          error
	}{
		"another reply":  {first: `{"answers":{"q1":{"answers":["Red"]}}}`, want: adapters.ErrNotPending},
		"the same reply": {first: `{"answers":{"q1":{"answers":["Blue"]}}}`},
		"not recorded":   {slow: true, want: adapters.ErrUnconfirmed},
		"a secret one":   {secret: `,"isSecret":true`, slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, a, s := waiting(t)
			d := ask(t, r, map[string]string{"7": fmt.Sprintf(question, tt.secret)})
			d.set(func() { d.first, d.slow = map[string]string{"7": tt.first}, tt.slow })
			_, err := a.Answer(t.Context(), s, one(t, a, s), adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}}})
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

func TestPendingWithoutDaemon(t *testing.T) {
	r, a, s := waiting(t)
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("%v", err)
	}
	d := ask(t, r, map[string]string{"1": command("1", "ls", "")})
	must.Do(t, os.Chmod(filepath.Join(r.Home, ".codex", "app-server-control"), 0o777))
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
