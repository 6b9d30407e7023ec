package opencode

import (
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
)

// The table of statuses: what the messages say, with a process and without.
func TestDecide(t *testing.T) {
	now := at("12:00:00")
	ago := func(seconds int) millis { return millis(now.Add(-time.Duration(seconds) * time.Second).UnixMilli()) }
	holder := hostAt(7, now.Add(-time.Hour))
	user := message{ID: "msg_1", Role: "user"}
	user.Time.Created = ago(20)
	open := message{ID: "msg_2", Role: "assistant"}
	open.Time.Created = ago(19)
	done := open
	done.Time.Completed, done.Finish = ago(10), "stop"
	step := done
	step.Finish = "tool-calls"
	failed := done
	aborted := done
	cancelled := done
	failed.Error = &failure{Name: "APIError"}
	abort := *failed.Error
	abort.Name = "MessageAbortedError"
	aborted.Error = &abort
	cancelled.Finish = ""
	strange := message{ID: "msg_3"}
	bash := call{tool: "bash", since: ago(15), updated: ago(15)}
	begun := bash
	begun.metadata = true
	asked := &run{id: "r", asks: []ask{{at: ago(15).time(), permission: "bash"}}}
	tests := map[string]struct {
		last    message
		calls   []call
		refused bool
		claim   claim
		said    *serverAnswer
		status  adapters.Status
		waiting adapters.WaitingFor
		outcome adapters.Outcome
		without adapters.Outcome // when no process has it
	}{
		"the user's message":        {last: user, status: adapters.Working, without: adapters.Died},
		"an open answer":            {last: open, status: adapters.Working, without: adapters.Died},
		"between steps":             {last: step, status: adapters.Working, without: adapters.Died},
		"done":                      {last: done, status: adapters.Idle, outcome: adapters.Completed, without: adapters.Completed},
		"failed":                    {last: failed, status: adapters.Idle, outcome: adapters.Failed, without: adapters.Failed},
		"aborted":                   {last: aborted, status: adapters.Idle, outcome: adapters.Interrupted, without: adapters.Interrupted},
		"cancelled between tries":   {last: cancelled, status: adapters.Idle, outcome: adapters.Interrupted, without: adapters.Interrupted},
		"refused by the user":       {last: step, refused: true, status: adapters.Idle, outcome: adapters.Interrupted, without: adapters.Interrupted},
		"no message":                {status: adapters.Idle},
		"a message of another form": {last: strange, status: adapters.Unknown},
		"a command runs":            {last: open, calls: []call{begun}, status: adapters.Working, without: adapters.Died},
		"a question": {last: open, calls: []call{{tool: "question", since: ago(15)}}, status: adapters.Waiting,
			waiting: adapters.ForQuestion, without: adapters.Died},
		"a question still being written": {last: open, calls: []call{{tool: "question", pending: true}}, status: adapters.Working, without: adapters.Died},
		"a permission, by the log": {last: open, calls: []call{bash}, claim: claim{run: asked}, status: adapters.Waiting,
			waiting: adapters.ForPermission, without: adapters.Died},
		"a permission, without a log":         {last: open, calls: []call{bash}, status: adapters.Waiting, waiting: adapters.ForPermission, without: adapters.Died},
		"a log without a word of permissions": {last: open, calls: []call{bash}, claim: claim{run: &run{id: "r"}}, status: adapters.Working, without: adapters.Died},
		"allowed since": {last: open, calls: []call{{tool: "write", since: ago(15), updated: ago(5)}}, claim: claim{run: asked},
			status: adapters.Working, without: adapters.Died},
		"one of two calls": {last: open, calls: []call{begun, bash}, claim: claim{run: asked}, status: adapters.Waiting,
			waiting: adapters.ForPermission, without: adapters.Died},
		"waits while the next prompt is queued": {last: user, calls: []call{{tool: "question", since: ago(30)}}, status: adapters.Waiting,
			waiting: adapters.ForQuestion, without: adapters.Died},
		"ended before the model was asked": {last: user, claim: claim{over: ago(8).time()}, status: adapters.Idle,
			outcome: adapters.Interrupted, without: adapters.Died},
		"aborted while it asked": {last: open, calls: []call{{tool: "question", since: ago(15)}}, claim: claim{over: ago(8).time()},
			status: adapters.Idle, outcome: adapters.Interrupted, without: adapters.Died},
		"a question after an abort": {last: open, calls: []call{{tool: "question", since: ago(6)}}, claim: claim{over: ago(8).time()},
			status: adapters.Waiting, waiting: adapters.ForQuestion, without: adapters.Died},
		"the user's own command after a turn": {last: open, calls: []call{begun}, claim: claim{over: ago(8).time()},
			status: adapters.Working, without: adapters.Died},
		"the server's question of an aborted turn": {last: open, calls: []call{{tool: "question", since: ago(15)}}, said: notBusy("question"),
			status: adapters.Idle, without: adapters.Died},
		"it can't be known":         {last: open, claim: claim{doubt: "two could"}, status: adapters.Unknown},
		"the server says retry":     {last: open, said: saying("retry"), status: adapters.Working, without: adapters.Died},
		"the server says nothing":   {last: open, said: saying(""), status: adapters.Idle, without: adapters.Died},
		"the server says busy":      {last: done, said: saying("busy"), status: adapters.Working, without: adapters.Completed},
		"the server's old question": {last: open, said: askingFor("question"), status: adapters.Working, without: adapters.Died},
		"the server's question": {last: open, calls: []call{{tool: "question", since: ago(3)}}, said: askingFor("question"),
			status: adapters.Waiting, waiting: adapters.ForQuestion, without: adapters.Died},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := &facts{id: sesA, directory: "/home/dev/p", created: ago(3600), updated: ago(20), last: test.last, calls: test.calls, refused: test.refused}
			if test.last.Role == "assistant" {
				f.assistant = test.last
			}
			f.finish()
			s := observation{facts: f, claim: test.claim, server: test.said, now: now}
			if s.claim.doubt == "" {
				s.claim.host, s.claim.why = holder, "log run r"
			}
			check(t, decide(s), test.status, test.waiting, test.outcome)
			if test.claim.doubt == "" {
				s.claim, s.server = claim{}, nil
				check(t, decide(s), adapters.Stopped, "", test.without)
			}
			s.noTable = true
			check(t, decide(s), adapters.Unknown, "", "")
		})
	}
}

func check(t *testing.T, v adapters.State, status adapters.Status, waiting adapters.WaitingFor, outcome adapters.Outcome) {
	t.Helper()
	if v.Status != status || v.WaitingFor != waiting || v.Outcome != outcome || v.Evidence == "" {
		t.Errorf("%s %s %s (%s), want %s %s %s", v.Status, v.WaitingFor, v.Outcome, v.Evidence, status, waiting, outcome)
	}
}

func saying(kind string) *serverAnswer {
	s := &serverAnswer{status: map[string]serverStatus{}, asked: map[string]bool{filepath.FromSlash("/home/dev/p"): true}}
	if kind != "" {
		s.status[sesA] = serverStatus{Type: kind, Attempt: 2, Message: "overloaded"}
	}
	return s
}

func notBusy(id string) *serverAnswer {
	s := askingFor(id)
	s.status = nil
	return s
}

func askingFor(id string) *serverAnswer {
	s := saying("busy")
	s.questions = map[string]string{sesA: id}
	return s
}

// A sub-agent that waits is found by its call.
func TestWaitingChild(t *testing.T) {
	f := &facts{id: sesA, calls: []call{{tool: "task"}}}
	f.assistant.Time.Created = 1000
	child := func(made int64, status adapters.Status) map[string]*adapters.Session {
		return map[string]*adapters.Session{sesB: {
			ID: sesB, Parent: sesA,
			State: adapters.State{Status: status},
			Times: adapters.Times{StartedAt: millis(made).time()},
		}}
	}
	if f.waitingChild(child(1500, adapters.Waiting)) != nil {
		t.Error("one is found that no call names")
	}
	f.calls[0].child = sesB
	if f.waitingChild(child(1500, adapters.Working)) != nil {
		t.Error("one that works is found")
	}
	if f.waitingChild(child(500, adapters.Waiting)) == nil {
		t.Error("the one that the call names is not found")
	}
	f.calls[0].child = "ses_cccccccccccccccc"
	if f.waitingChild(child(1500, adapters.Waiting)) != nil {
		t.Error("one that the call doesn't name is found")
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", `"two words"`: "two words", "\"two words\"\n": "two words", `"a" and "b"`: `"a" and "b"`,
		`"say \"hi\" now"`: `say "hi" now`, `"one"`: `"one"`, `"`: `"`, ``: ``, `"open end`: `"open end`,
	} {
		if got := unquotePrompt(text); got != want {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
	if got := runPrompt([]string{`say "hi" now`}); unquotePrompt(got) != `say "hi" now` {
		t.Errorf("%q", got)
	}
}

func TestTitles(t *testing.T) {
	for title, want := range map[string]string{
		"New session - 2026-11-21T04:40:05.875Z": "", "Child session - 2026-11-21T04:40:05.875Z": "",
		"New session - 2026-11-21T04:40:05.875Z (fork #1)": "", "Mock title (fork #1)": "Mock title (fork #1)",
		"New session - with words": "New session - with words",
	} {
		if got := ownTitle(title); got != want {
			t.Errorf("ownTitle(%q) = %q, want %q", title, got, want)
		}
	}
}

// What the user refused, as 1.1.65, 1.2.27 and 1.18.33 wrote it.
func TestRefusal(t *testing.T) {
	for text, want := range map[string]bool{
		"The user rejected permission to use this specific tool call.":                                      true,
		`PermissionRejectedError({"_tag":"PermissionRejectedError"})`:                                       true,
		"The user dismissed this question":                                                                  true,
		"The user rejected permission to use this specific tool call with the following feedback: use make": false,
		"Tool execution aborted":                                                                            false, "exit 1": false,
	} {
		if refusal(text) != want {
			t.Errorf("refusal(%q) is %v", text, !want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, data := range []string{userData, doneData, openData, `{"role":"assistant","time":{"created":"x","completed":1e99},"tokens":null,"error":{"name":3}}`, `[]`, `{"role":`} {
		f.Add(data, `{"type":"tool","tool":"task","state":{"status":"running","metadata":{"sessionId":"ses_x"},"time":{"start":1}}}`)
	}
	f.Fuzz(func(t *testing.T, data, part string) {
		s := &facts{id: sesA, partsUnread: true}
		s.setLast("msg_1", data, 5, 4)
		s.addPart(6, part, false)
		s.finish()
		v := decide(observation{facts: s, now: at("12:00:00")})
		if v.Status != adapters.Stopped || v.Evidence == "" {
			t.Errorf("%+v", v)
		}
		v = decide(observation{facts: s, claim: claim{host: hostAt(1, at("11:00:00")), why: "x"}, now: at("12:00:00")})
		if wrong := adapters.Waiting == v.Status != (v.WaitingFor != ""); wrong || v.Status == adapters.Stopped {
			t.Errorf("%+v", v)
		}
	})
}

// A status that only time changes comes with the time from which it differs: one who reads on sees then what one who begins to read sees.
func TestTimeAlone(t *testing.T) {
	start := at("12:00:00")
	stamp := millis(start.UnixMilli())
	user := message{ID: "msg_1", Role: "user"}
	user.Time.Created = stamp
	open := message{ID: "msg_2", Role: "assistant"}
	open.Time.Created = stamp
	bash := call{tool: "bash", since: stamp, updated: stamp}
	written := bash
	written.updated = stamp + 2000
	asked := &run{id: "r", asks: []ask{{at: start, permission: "bash"}}}
	queued := hostAt(8, start.Add(2*time.Second), "run")
	for name, test := range map[string]struct {
		last     message
		calls    []call
		claim    claim
		said     *serverAnswer
		pressure float64
		want     adapters.Status // in the end
	}{
		"a permission, without a log":               {last: open, calls: []call{bash}, want: adapters.Waiting},
		"a permission on a busy machine":            {last: open, calls: []call{bash}, pressure: 0.9, want: adapters.Waiting},
		"a call that was written after it asked":    {last: open, calls: []call{written}, claim: claim{run: asked}, want: adapters.Waiting},
		"a log without a word of permissions":       {last: open, calls: []call{bash}, claim: claim{run: &run{id: "r"}}, want: adapters.Waiting},
		"no message":                                {want: adapters.Idle},
		"its server is not busy":                    {last: user, said: notBusy(""), want: adapters.Idle},
		"ended before the model was asked":          {last: user, claim: claim{over: start}, want: adapters.Idle},
		"to be continued, which never begins":       {last: done(stamp), claim: claim{host: queued}, want: adapters.Idle},
		"at work, whatever time it is":              {last: open, want: adapters.Working},
		"a command that runs, whatever time it is":  {last: open, calls: []call{{tool: "bash", since: stamp, updated: stamp, metadata: true}}, want: adapters.Working},
		"a question, from its beginning to its end": {last: open, calls: []call{{tool: "question", since: stamp}}, want: adapters.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			f := &facts{id: sesA, directory: "/home/dev/p", created: stamp, updated: stamp, last: test.last, calls: test.calls}
			f.finish()
			s := observation{facts: f, claim: test.claim, server: test.said, pressure: test.pressure}
			if s.claim.host == nil {
				s.claim.host = hostAt(7, start.Add(-time.Hour))
			}
			shown := readOn(t, start, func(now time.Time) adapters.State {
				s.now = now
				return decide(s)
			})
			if shown.Status != test.want || !shown.AskAgain.IsZero() {
				t.Errorf("in the end %s, to be asked again at %v", shown.Status, shown.AskAgain)
			}
		})
	}
}

// The process of a session that no log names is not known, until the log of each would name it.
func TestDoubtForATime(t *testing.T) {
	start := at("12:00:00")
	stamp := millis(start.UnixMilli())
	user := message{ID: "msg_1", Role: "user"}
	user.Time.Created = stamp
	f := &facts{id: sesA, directory: "/home/dev/p", created: stamp, updated: stamp, last: user}
	f.finish()
	one, two := hostAt(7, start.Add(-time.Minute)), hostAt(8, start.Add(-50*time.Second))
	runs := assignment{runOf: map[*host]*run{one: runAt("a", start.Add(-time.Minute)), two: runAt("b", start.Add(-50*time.Second))}}
	for _, r := range runs.runOf {
		r.last = start.Add(-20 * time.Second)
	}
	shown := readOn(t, start, func(now time.Time) adapters.State {
		l := &links{now: now, hosts: []*host{one, two}, runs: runs}
		return decide(observation{facts: f, claim: l.of(f), now: now})
	})
	if shown.Status != adapters.Stopped || !shown.AskAgain.IsZero() {
		t.Errorf("in the end %s (%s), to be asked again at %v", shown.Status, shown.Evidence, shown.AskAgain)
	}
}

// A process below the agent, which may be that of a call, ends without a change that is noticed: it is looked for again.
func TestProcessBelowEnds(t *testing.T) {
	begun := millis(at("12:00:00").UnixMilli())
	f := &facts{id: sesA, directory: "/home/dev/p", created: begun, updated: begun, last: message{ID: "msg_2", Role: "assistant"}}
	f.last.Time.Created, f.calls = begun, []call{{tool: "bash", since: begun, updated: begun}}
	f.finish()
	s := observation{facts: f, claim: claim{host: hostAt(7, at("11:00:00"))}, now: at("12:00:12"), runs: true}
	if v := decide(s); v.Status != adapters.Working || !v.AskAgain.Equal(s.now.Add(callDelay)) {
		t.Errorf("%s, to be asked again at %v", v.Status, v.AskAgain)
	}
	s.runs = false
	if v := decide(s); v.Status != adapters.Waiting || !v.AskAgain.IsZero() {
		t.Errorf("%s, to be asked again at %v", v.Status, v.AskAgain)
	}
}

// readOn returns what one who reads on shows after some minutes: it looks again only when it is told to. It fails the test if one who begins to read
// meanwhile sees another status.
func readOn(t *testing.T, start time.Time, look func(now time.Time) adapters.State) adapters.State {
	t.Helper()
	now := start.Add(20 * time.Millisecond)
	shown := look(now)
	for ; now.Before(start.Add(7 * time.Minute)); now = now.Add(100 * time.Millisecond) {
		v := look(now)
		if !shown.AskAgain.IsZero() && !now.Before(shown.AskAgain) {
			shown = v
		}
		if v.Status != shown.Status || v.WaitingFor != shown.WaitingFor || v.Outcome != shown.Outcome {
			t.Fatalf("after %v: %s (%s), still shown: %s, to be asked again at %v", now.Sub(start), v.Status, v.Evidence, shown.Status, shown.AskAgain)
		}
	}
	return shown
}

// done returns a message that ended at a time.
func done(at millis) message {
	m := message{ID: "msg_2", Role: "assistant", Finish: "stop"}
	m.Time.Created, m.Time.Completed = at, at
	return m
}
