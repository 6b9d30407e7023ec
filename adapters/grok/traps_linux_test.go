package grok

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// replayed returns a recording, its session's folder, and a function that asks at a time after its moment.
func replayed(t *testing.T, name string) (r *adaptertest.Recording, folder string, ask func(later time.Duration) adapters.Session) {
	t.Helper()
	r = adaptertest.Replay(t, "testdata/recordings/grok-1.0.41-"+name)
	files, err := fs.Glob(os.DirFS(r.Home), ".grok/sessions/*/*/events.jsonl") // the path of a home may have any character
	must.Do(t, err)
	if len(files) != 1 {
		t.Fatal(files)
	}
	return r, filepath.Join(r.Home, filepath.Dir(files[0])), func(later time.Duration) adapters.Session {
		t.Helper()
		cfg := r.Config()
		cfg.Now = func() time.Time { return r.CapturedAt.Add(later) }
		sessions := adaptertest.Discover(t, New(cfg), adapters.Query{}).Sessions
		if len(sessions) != 1 {
			t.Fatalf("%+v", sessions)
		}
		return sessions[0]
	}
}

// add adds events to a session, each a second apart from the moment of the recording on.
func add(t *testing.T, r *adaptertest.Recording, folder string, events ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(folder, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	defer f.Close()
	for i, event := range events {
		_, err := fmt.Fprintf(f, `{"ts":%q,"type":%s}`+"\n", r.CapturedAt.Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339Nano), event)
		must.Do(t, err)
	}
}

// Each call writes a request; the program allows most of them by itself within milliseconds. A new request is none of the user's yet, and the answer says when to
// ask again.
func TestNewRequestMayBeItsOwn(t *testing.T) {
	r, folder, ask := replayed(t, "working-tool")
	add(t, r, folder, `"tool_started","tool_name":"run_terminal_command"`, `"permission_requested","tool_name":"run_terminal_command"`)
	asked := time.Second // the second record
	if s := ask(asked + 100*time.Millisecond); s.Status != adapters.Working || !s.AskAgain.After(r.CapturedAt.Add(asked)) {
		t.Errorf("at once: %s, ask again %s; %s", s.Status, s.AskAgain, s.Evidence)
	}
	if s := ask(asked + time.Minute); s.Status != adapters.Waiting || s.WaitingFor != adapters.ForPermission {
		t.Errorf("later: %s %s; %s", s.Status, s.WaitingFor, s.Evidence)
	}
}

// What comes after a decision that has no record of its own: the user allows everything from then on, the tool ends, the model is asked again.
func TestRequestWithoutDecision(t *testing.T) {
	for _, then := range []string{
		`"permission_resolved","tool_name":"run_terminal_command","decision":"allow","wait_ms":700`,
		`"yolo_toggled","enabled":true`, `"tool_completed","tool_name":"run_terminal_command","outcome":"success"`, `"loop_started","loop_index":1`,
	} {
		r, folder, ask := replayed(t, "permission")
		if s := ask(time.Minute); s.Status != adapters.Waiting {
			t.Fatalf("before: %s; %s", s.Status, s.Evidence)
		}
		add(t, r, folder, then)
		if s := ask(time.Minute); s.Status != adapters.Working {
			t.Errorf("after %s: %s; %s", then, s.Status, s.Evidence)
		}
	}
}

// A question and a plan look like a tool that is allowed. Beside another tool they wait, too, until they end.
func TestQuestionAndPlanLookAllowed(t *testing.T) {
	for tool, want := range map[string]adapters.WaitingFor{questionTool: adapters.ForQuestion, exitPlan: adapters.ForPermission} {
		r, folder, ask := replayed(t, "working-tool")
		add(t, r, folder, `"tool_started","tool_name":"`+tool+`"`, `"permission_requested","tool_name":"`+tool+`"`,
			`"permission_resolved","tool_name":"`+tool+`","decision":"allow","wait_ms":0`, `"phase_changed","phase":"tool_execution"`)
		if s := ask(time.Minute); s.Status != adapters.Waiting || s.WaitingFor != want {
			t.Errorf("%s: %s %s; %s", tool, s.Status, s.WaitingFor, s.Evidence)
		}
		add(t, r, folder, `"tool_completed","tool_name":"`+tool+`","outcome":"success"`)
		if s := ask(time.Minute); s.Status != adapters.Working {
			t.Errorf("%s has ended: %s; %s", tool, s.Status, s.Evidence)
		}
	}
}

// The user's denial ends the turn, as recorded by 1.0.41.
func TestDenied(t *testing.T) {
	r, folder, ask := replayed(t, "permission")
	add(t, r, folder, `"permission_resolved","tool_name":"run_terminal_command","decision":"deny","wait_ms":673`,
		`"turn_ended","outcome":"cancelled","cancellation_category":"permission_rejected"`)
	if s := ask(time.Minute); s.Status != adapters.Idle || s.Outcome != adapters.Interrupted {
		t.Errorf("%s %s; %s", s.Status, s.Outcome, s.Evidence)
	}
}

// The next process records the end of a turn in which the one before it ended, with a word that means no user (run with 1.0.41: "the agent process exited").
func TestEndedByNextProcess(t *testing.T) {
	r, folder, ask := replayed(t, "working-tool")
	add(t, r, folder, `"turn_ended","outcome":"interrupted"`)
	if s := ask(time.Minute); s.Status != adapters.Idle || s.Outcome != adapters.Died {
		t.Errorf("%s %s; %s", s.Status, s.Outcome, s.Evidence)
	}
}

// Records of another form than 1.x are not guessed at.
func TestUnknownForm(t *testing.T) {
	r, folder, ask := replayed(t, "tui-idle")
	add(t, r, folder, `"turn_started","session_id":"x","model_id":"mock-1","schema_version":"2.0"`)
	if s := ask(time.Minute); s.Status != adapters.Unknown || !strings.Contains(s.Evidence, `"2.0"`) && !strings.Contains(s.Evidence, `"20"`) {
		t.Errorf("%s; %s", s.Status, s.Evidence)
	}
}

// A line that can't be read can be the end of the open turn.
func TestDamagedLine(t *testing.T) {
	_, folder, ask := replayed(t, "working-tool")
	f, err := os.OpenFile(filepath.Join(folder, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	_, err = f.WriteString("}}}\n")
	must.Do(t, err)
	must.Do(t, f.Close())
	cfgless := ask(time.Minute)
	if cfgless.Status != adapters.Unknown {
		t.Errorf("%s; %s", cfgless.Status, cfgless.Evidence)
	}
}

// systemd-inhibit runs below a process that works, and is no tool: nothing changes with it.
func TestInhibitIsNoTool(t *testing.T) {
	w := scene.New(t)
	s := scene.Grok(w).Start("/home/dev/proj", "hello")
	s.Answer("fine")
	w.Procs.Start(scene.Spec{Comm: "systemd-inhibit", Exe: "/usr/bin/systemd-inhibit", PPID: s.Process.PID, CWD: s.CWD, Args: []string{"systemd-inhibit", "--what=idle", "sleep", "infinity"}})
	sessions := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions
	if len(sessions) != 1 || sessions[0].Status != adapters.Idle || sessions[0].Process != s.Process {
		t.Errorf("%+v", sessions)
	}
}

// A sub-agent is a session of its own, whose file its parent's process holds. What it asks is asked in the parent's terminal.
func TestSubAgent(t *testing.T) {
	w := scene.New(t)
	s := scene.Grok(w).Start("/home/dev/proj", "delegate")
	const child = "01a2228a-8ec7-71b2-b097-3e45cf4203ed"
	folder := filepath.Join(filepath.Dir(filepath.Dir(s.File)), child)
	at := time.Now().UTC().Format(time.RFC3339Nano)
	w.Append(filepath.Join(filepath.Dir(s.File), "updates.jsonl"), fmt.Sprintf(`{"timestamp":1,"method":"_x.ai/session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"subagent_spawned","child_session_id":%q}}}`, s.ID, child))
	w.Write(filepath.Join(folder, "summary.json"), fmt.Sprintf(`{"info":{"id":%q,"cwd":"/home/dev/proj"},"created_at":%q,"session_kind":"subagent"}`, child, at))
	w.Write(filepath.Join(folder, "events.jsonl"), fmt.Sprintf(`{"ts":%q,"type":"turn_started","schema_version":"1.0"}
{"ts":%q,"type":"permission_requested","tool_name":"run_terminal_command"}
`, at, at))
	w.Write(filepath.Join(folder, "updates.jsonl"), fmt.Sprintf(`{"timestamp":1,"method":"_x.ai/session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"turn_completed","prompt_id":"p","usage":{"modelUsage":{"m":{"inputTokens":7}}}}}}
`, child))
	w.Procs.Open(s.Process.PID, filepath.Join(folder, "events.jsonl"))
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return time.Now().Add(time.Minute) }})
	found := map[string]adapters.Session{}
	for _, s := range adaptertest.Discover(t, a, adapters.Query{Totals: true, Usage: true}).Sessions {
		found[s.ID] = s
	}
	below, above := found[child], found[s.ID]
	if len(found) != 2 || below.Parent != s.ID || below.Process != s.Process || !below.Shared || below.Status != adapters.Waiting || below.Tokens == nil {
		t.Errorf("the sub-agent: %+v", below)
	}
	if above.Status != adapters.Waiting || above.WaitingFor != adapters.ForPermission || above.Shared || above.Parent != "" {
		t.Errorf("its parent: %+v", above)
	}
}

// Each start of a terminal makes a session. One that was never asked anything is none without its process: `grok sessions list` leaves it out as well.
func TestNeverAsked(t *testing.T) {
	r, _, ask := replayed(t, "tui-fresh")
	if s := ask(0); s.Status != adapters.Idle {
		t.Errorf("%s; %s", s.Status, s.Evidence)
	}
	must.Do(t, os.RemoveAll(filepath.Join(r.ProcRoot, "306")))
	if list := adaptertest.Discover(t, New(r.Config()), adapters.Query{}).Sessions; len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// Another program with the same name has no log of Grok Build: it is no row.
func TestOtherProgram(t *testing.T) {
	w := scene.New(t)
	scene.Grok(w).Install()
	w.Procs.Start(scene.Spec{Comm: "grok", Exe: "/usr/bin/grok", CWD: "/home/dev/proj", Args: []string{"grok", "-f", "syslog.grok"}, Env: []string{"HOME=" + w.Home}})
	if list := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions; len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// Two processes can resume one session (1.0.41). Which of them is in the turn is known by who wrote last, and unknown otherwise.
func TestResumedTwice(t *testing.T) {
	w := scene.New(t)
	s := scene.Grok(w).Start("/home/dev/proj", "hello")
	w.Procs.Start(scene.Spec{Comm: "grok", Exe: scene.GrokProgram, CWD: s.CWD, Args: []string{"grok", "-r", s.ID}, Env: []string{"HOME=" + w.Home}, Files: []string{s.File}})
	ask := func() adapters.Session {
		t.Helper()
		list := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		return list[0]
	}
	if one := ask(); one.Status != adapters.Unknown {
		t.Errorf("%s; %s", one.Status, one.Evidence)
	}
	s.Answer("fine")
	if one := ask(); one.Status != adapters.Idle {
		t.Errorf("%s; %s", one.Status, one.Evidence)
	}
}

// A fork begins with what the other session has: its answers count once.
func TestForkCountsOnce(t *testing.T) {
	w := scene.New(t)
	agent := scene.Grok(w)
	s := agent.Start("/home/dev/proj", "hello")
	s.Answer("fine")
	fork := agent.Start("/home/dev/proj", "fork it")
	fork.Answer("fine")
	path := filepath.Join(filepath.Dir(fork.File), "updates.jsonl")
	own, err := os.ReadFile(path)
	must.Do(t, err)
	copied, err := os.ReadFile(filepath.Join(filepath.Dir(s.File), "updates.jsonl"))
	must.Do(t, err)
	text := strings.ReplaceAll(string(copied), `"sessionId":"`+s.ID, `"sessionId":"`+fork.ID) + string(own)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	roll := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{Totals: true, Usage: true})
	var sum adapters.Tokens
	for _, s := range roll.Sessions {
		for _, u := range s.Usage {
			sum.Add(u.Tokens)
		}
	}
	if sum.Output != 68 || sum.CacheRead != 2000 || sum.Input != 480 || roll.Ledger.Copies != 1 {
		t.Errorf("%+v, %d copies", sum, roll.Ledger.Copies)
	}
}

// A prompt that the user takes back before the first word of its answer leaves the turn open in all files of the session: only the log says so (run with 1.0.41).
func TestTakenBack(t *testing.T) {
	for _, c := range []struct {
		log, when   string // the lines of the log
		later       time.Duration
		live, ended scene.Truth
	}{
		{"rewound", "before", time.Minute, scene.Truth{Status: adapters.Idle}, scene.Truth{Status: adapters.Stopped}},
		{"kept", "before", time.Hour, scene.Truth{Status: adapters.Working}, scene.Truth{Status: adapters.Stopped, Outcome: adapters.Died}},
		{"kept", "after", time.Second, scene.Truth{Status: adapters.Working}, scene.Truth{Status: adapters.Stopped}},
		{"kept", "after", time.Minute, scene.Truth{Status: adapters.Unknown}, scene.Truth{Status: adapters.Stopped}},
	} {
		w := scene.New(t)
		s := scene.Grok(w).Start("/home/dev/proj", "hello")
		s.Answer("fine")
		w.Append(s.File, fmt.Sprintf(`{"ts":%q,"type":"turn_started","schema_version":"1.0"}`, time.Now().UTC().Format(time.RFC3339Nano)))
		s.Became(scene.Truth{Status: adapters.Working})
		began := map[string]time.Time{"before": time.Now().Add(-time.Hour), "after": time.Now().Add(time.Hour)}[c.when]
		w.Write(w.Path(".grok", "logs", "unified.jsonl"), fmt.Sprintf(`{"ts":%q,"msg":"started"}
{"ts":%q,"sid":%q,"msg":"shell.cancel.rewind_decision","ctx":{"rewind_disposition":%q}}
`, began.Format(time.RFC3339Nano), time.Now().Add(time.Second).Format(time.RFC3339Nano), s.ID, c.log))
		ask := func() scene.Truth {
			t.Helper()
			cfg := adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return time.Now().Add(c.later) }}
			list := adaptertest.Discover(t, New(cfg), adapters.Query{}).Sessions
			if len(list) != 1 {
				t.Fatalf("%+v", list)
			}
			return scene.TruthOf(&list[0])
		}
		if got := ask(); got != c.live {
			t.Errorf("%s %s, %s later: %s, want %s", c.log, c.when, c.later, got, c.live)
		}
		s.Kill()
		if got := ask(); got != c.ended {
			t.Errorf("%s %s, killed: %s, want %s", c.log, c.when, got, c.ended)
		}
	}
}

// What a sub-agent used is a part of what its parent's turn states, once that has ended (1.0.41, by the model server's count). Until then, and where the parent
// has gone, it counts by itself.
func TestUsageOfSubAgents(t *testing.T) {
	w := scene.New(t)
	s := scene.Grok(w).Start("/home/dev/proj", "delegate")
	const child = "01a2228a-8ec7-71b2-b097-3e45cf4203ed"
	update := func(session, update string) string {
		return fmt.Sprintf(`{"timestamp":1,"method":"_x.ai/session/update","params":{"sessionId":%q,"update":%s,"_meta":{"eventId":"%s-1","agentTimestampMs":%d}}}`+"\n",
			session, update, session, time.Now().UnixMilli())
	}
	turn := func(session string, input int) string {
		return update(session, fmt.Sprintf(`{"sessionUpdate":"turn_completed","prompt_id":%q,"usage":{"modelUsage":{"m":{"inputTokens":%d}}}}`, "of "+session, input))
	}
	counts := func(when string, want int64) {
		t.Helper()
		var input int64
		for _, s := range adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{Totals: true, Usage: true}).Sessions {
			if s.Usage == nil && s.Tokens != nil { // all of it counts, when it was last active
				input += s.Tokens.Input
			}
			for _, u := range s.Usage {
				input += u.Tokens.Input
			}
		}
		if input != want {
			t.Errorf("%s: %d, not %d", when, input, want)
		}
	}
	own := filepath.Join(filepath.Dir(s.File), "updates.jsonl")
	w.Append(own, update(s.ID, fmt.Sprintf(`{"sessionUpdate":"subagent_spawned","child_session_id":%q}`, child)))
	folder := filepath.Join(filepath.Dir(filepath.Dir(s.File)), child)
	w.Write(filepath.Join(folder, "summary.json"), fmt.Sprintf(`{"info":{"id":%q,"cwd":"/home/dev/proj"},"created_at":"2026-11-28T09:00:00Z","session_kind":"subagent"}`, child))
	w.Write(filepath.Join(folder, "events.jsonl"), `{"ts":"2026-11-28T09:00:00Z","type":"turn_started","schema_version":"1.0"}`+"\n")
	w.Write(filepath.Join(folder, "updates.jsonl"), turn(child, 7))
	counts("the sub-agent has answered", 7)
	w.Append(own, update(s.ID, fmt.Sprintf(`{"sessionUpdate":"subagent_finished","child_session_id":%q}`, child)))
	counts("it has ended", 7)
	w.Append(own, turn(s.ID, 7+5))
	counts("the turn has ended", 7+5)
	must.Do(t, os.RemoveAll(filepath.Dir(s.File)))
	counts("its parent has gone", 7)
}
