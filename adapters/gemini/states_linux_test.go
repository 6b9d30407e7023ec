package gemini

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// child starts a child of a process, as a call does.
func (w world) child(of proc.Identity, ago time.Duration) proc.Identity {
	return w.Procs.Start(scene.Spec{Comm: "bash", Exe: "/bin/bash", CWD: folder, Args: []string{"bash", "-c", "shopt -u promptvars; make"}, PPID: of.PID,
		Env: []string{"GEMINI_CLI=1"}, Started: time.Now().Add(-ago)})
}

func note(ago time.Duration, typ, text string) string {
	return fmt.Sprintf(`{"id":"n%s","timestamp":%q,"type":%q,"content":%q}`, text, stamp(ago), typ, text)
}

// TestStates: what the end of a file of 0.61.0 means, while its terminal is open and after it was killed.
func TestStates(t *testing.T) {
	context := fmt.Sprintf(`{"$set":{"messages":[{"id":"d","timestamp":%q,"type":"user","content":[{"text":"<session_context>\nx"}]}]}}`, stamp(45*time.Second))
	over := fmt.Sprintf(`{"id":"c","timestamp":%q,"type":"gemini","content":"text","toolCalls":[{"id":"t","name":"x","status":"success","timestamp":%q}]}`, stamp(9*time.Second), stamp(8*time.Second))
	result := fmt.Sprintf(`{"id":"r","timestamp":%q,"type":"user","content":[{"functionResponse":{"id":"t"}}]}`, stamp(7*time.Second))
	cancelled := note(6*time.Second, "info", "Request cancelled.")
	for name, c := range map[string]struct {
		lines   []string
		open    adapters.Status
		outcome adapters.Outcome // of both, but for died
		stopped adapters.Outcome
	}{
		"prompt":               {[]string{user(9*time.Second, "one")}, adapters.Working, "", adapters.Died},
		"call":                 {[]string{user(9*time.Second, "one"), answer(8*time.Second, "")}, adapters.Unknown, "", adapters.Died},
		"call over":            {[]string{user(9*time.Second, "one"), over}, adapters.Working, "", adapters.Died},
		"result":               {[]string{user(9*time.Second, "one"), over, result}, adapters.Working, "", adapters.Died},
		"answer":               {[]string{user(9*time.Second, "one"), answer(8*time.Second, "fine")}, adapters.Idle, "", ""},
		"error":                {[]string{user(9*time.Second, "one"), note(6*time.Second, "error", "[API Error]")}, adapters.Idle, adapters.Failed, adapters.Failed},
		"prompt after error":   {[]string{user(9*time.Second, "one"), note(8*time.Second, "error", "[API Error]"), user(5*time.Second, "two")}, adapters.Working, "", adapters.Died},
		"warning":              {[]string{user(9*time.Second, "one"), note(6*time.Second, "warning", "slow")}, adapters.Working, "", adapters.Died},
		"cancelled":            {[]string{user(9*time.Second, "one"), cancelled}, adapters.Idle, adapters.Interrupted, adapters.Interrupted},
		"cancelled, rewritten": {[]string{user(9*time.Second, "one"), over, cancelled, strings.Replace(over, `"c"`, `"x"`, 1), strings.Replace(result, `"r"`, `"y"`, 1)}, adapters.Idle, adapters.Interrupted, adapters.Interrupted},
		"prompt after cancel":  {[]string{user(9*time.Second, "one"), cancelled, context, user(5*time.Second, "two")}, adapters.Working, "", adapters.Died},
		"prompt taken back":    {[]string{user(9*time.Second, "one"), context}, adapters.Idle, "", ""},
		"half a record":        {[]string{user(9*time.Second, "one"), answer(8*time.Second, "fine"), `{"$set":{"lastUp`}, adapters.Idle, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(50 * time.Second)
			w.logs([3]string{"a", "40s", "one"}, [3]string{"a", "39s", "two"})
			w.chat("a", "00", append([]string{head("a", 45*time.Second), context}, c.lines...)...)
			w.want("a", c.open, c.outcome, p)
			w.Procs.End(p.PID)
			w.want("a", adapters.Stopped, c.stopped, proc.Identity{})
		})
	}
}

// TestTextBeforeCall: 0.61.0 records the text of an answer before the call that follows it waits for the user, and the same bytes are those of a turn that is
// over. Only a process that the call runs, the title of the terminal or the end of a run shows which it is.
func TestTextBeforeCall(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.logs([3]string{"a", "40s", "one"})
	w.chat("a", "00", head("a", 45*time.Second), user(20*time.Second, "one"), answer(9*time.Second, "I will use the shell."))
	s := w.want("a", adapters.Idle, "", p)
	if !s.MayAsk || !strings.Contains(s.Evidence, "your turn: it answered, or asks for something (Gemini CLI does not record which)") {
		t.Errorf("%+v", s)
	}
	soon := s.LastActivityAt.Add(quick - 1) // a call that asks nothing begins within that time
	early := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return soon }})
	if got := adaptertest.Discover(w, early, adapters.Query{}).Sessions; len(got) != 1 || got[0].Status != adapters.Working || !got[0].AskAgain.Equal(s.LastActivityAt.Add(quick)) {
		t.Errorf("%+v", got)
	}
	if !s.AskAgain.IsZero() {
		t.Errorf("asked again at %v, although nothing but a change makes a difference", s.AskAgain)
	}
	tool := w.child(p, 8*time.Second)
	if s := w.want("a", adapters.Working, "", p); s.MayAsk {
		t.Errorf("%+v", s)
	}
	w.Procs.End(tool.PID)
	w.want("a", adapters.Idle, "", p)
	for title, want := range map[string]adapters.Session{"✋  Action Required (proj)": {State: adapters.State{Status: adapters.Waiting}}, "✦  Working… (proj)": {State: adapters.State{Status: adapters.Working}},
		"◇  Ready (proj)": {State: adapters.State{Status: adapters.Idle, Outcome: adapters.Completed}}} {
		one := session{facts: facts{turn: turn{state: ended, outcome: adapters.Completed}}}
		v := kit.Idle("", s.Evidence)
		v.MayAsk = true
		if got := one.withTitle(v, pane.Title{Text: title}); got.Status != want.Status || got.Outcome != want.Outcome || got.MayAsk {
			t.Errorf("%s: %+v", title, got)
		}
	}
	run := newWorld(t)
	p = run.start(50*time.Second, "--yolo", "-p", "one")
	run.chat("a", "00", head("a", 45*time.Second), user(20*time.Second, "one"), answer(9*time.Second, "I will fetch it."))
	run.want("a", adapters.Working, "", p)
}

// TestCallMayAsk: a call that no process runs for longer than one takes to begin is not known to wait, and may: that is told. While a process runs for it, it does not.
func TestCallMayAsk(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.logs([3]string{"a", "40s", "one"})
	w.chat("a", "00", head("a", 45*time.Second), user(20*time.Second, "one"), answer(9*time.Second, ""))
	s := w.want("a", adapters.Unknown, "", p)
	if !s.MayAsk || !strings.Contains(s.Evidence, noTool) || !s.AskAgain.IsZero() {
		t.Errorf("%+v", s)
	}
	for _, since := range []time.Duration{quick - 1, -time.Millisecond} { // the second: it was recorded after the look began
		now := s.LastActivityAt.Add(since)
		early := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return now }})
		got := adaptertest.Discover(w, early, adapters.Query{}).Sessions
		if len(got) != 1 || got[0].Status != adapters.Working || got[0].MayAsk || !got[0].AskAgain.Equal(s.LastActivityAt.Add(quick)) {
			t.Errorf("%v: %+v", since, got)
		}
	}
	w.child(p, 8*time.Second)
	if s := w.want("a", adapters.Working, "", p); s.MayAsk {
		t.Errorf("%+v", s)
	}
}

// TestAnsweredOrAsked: of a session that no process has, a text is the end of a turn only where something else shows it: what was typed in the terminal after it,
// which takes nothing while a turn runs or asks, or that the session was a run for one prompt.
func TestAnsweredOrAsked(t *testing.T) {
	text := []string{user(20*time.Second, "one"), answer(19*time.Second, "I will use the shell.")}
	for name, c := range map[string]struct {
		first []string
		typed [][3]string
		want  adapters.Outcome
	}{
		"terminal, killed":           {[]string{head("a", 45*time.Second)}, [][3]string{{"a", "21s", "one"}}, ""},
		"terminal, /quit":            {[]string{head("a", 45*time.Second)}, [][3]string{{"a", "21s", "one"}, {"a", "5s", "/quit"}}, adapters.Completed},
		"terminal, a command":        {[]string{head("a", 45*time.Second)}, [][3]string{{"a", "21s", "one"}, {"a", "9s", "/stats"}}, adapters.Completed},
		"terminal, a lost prompt":    {[]string{head("a", 45*time.Second)}, [][3]string{{"a", "21s", "one"}, {"a", "9s", "two"}, {"a", "8s", "/quit"}}, ""},
		"another terminal's /quit":   {[]string{head("a", 45*time.Second)}, [][3]string{{"a", "21s", "one"}, {"b", "9s", "/quit"}}, ""},
		"/clear before it":           {[]string{head("a", 45*time.Second)}, [][3]string{{"c", "46s", "/clear"}, {"c", "21s", "one"}}, ""},
		"/clear before it and /quit": {[]string{head("a", 45*time.Second)}, [][3]string{{"c", "46s", "/clear"}, {"c", "21s", "one"}, {"c", "5s", "/quit"}}, adapters.Completed},
		"a run":                      {[]string{head("a", 45*time.Second)}, [][3]string{{"b", "80s", "one"}, {"b", "21s", "other"}}, adapters.Completed},
		"a run, and no log":          {[]string{head("a", 45*time.Second)}, nil, adapters.Completed},
		"a run that resumed": {[]string{head("a", time.Hour), user(time.Hour, "first"), head("a", 45*time.Second)}, [][3]string{{"a", "1h", "first"}},
			adapters.Completed},
		"over the protocol": {hosted("a", 45*time.Second), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.typed != nil {
				w.logs(c.typed...)
			}
			w.chat("a", "00", append(c.first, text...)...)
			s := w.want("a", adapters.Stopped, c.want, proc.Identity{})
			if said := strings.Contains(s.Evidence, "answered, or asked for something (Gemini CLI does not record which)"); said != (c.want == "" && name != "terminal, a lost prompt") {
				t.Error(s.Evidence)
			}
		})
	}
}

// TestServerOfResumedProcess: a server that a process started with itself is no tool of the turn before.
func TestServerOfResumedProcess(t *testing.T) {
	w := newWorld(t)
	w.chat("a", "00", head("a", time.Hour), user(time.Hour, "one"), answer(time.Hour, "fine"))
	p := w.start(10*time.Second, "--resume", id("a"))
	w.child(p, 9*time.Second)
	w.want("a", adapters.Idle, "", p)
}

// TestHostOfTwo: a host of other programs' sessions can have several.
func TestHostOfTwo(t *testing.T) {
	w := newWorld(t)
	p := w.start(10*time.Minute, "--acp")
	w.chat("a", "00", head("a", 10*time.Minute-5*time.Second), user(9*time.Minute, "one"), answer(8*time.Minute, "fine"))
	w.want("a", adapters.Idle, "", p)
	w.chat("b", "05", head("b", time.Minute), user(9*time.Second, "two"))
	if s := w.sessions()["b"]; s.Status != adapters.Working && s.Status != adapters.Unknown {
		t.Errorf("%s %s; %s", s.Status, s.Outcome, s.Evidence)
	}
}

// hosted returns the first lines of a session that a process hosts for another program (0.61.0).
func hosted(letter string, ago time.Duration) []string {
	return []string{head(letter, ago), fmt.Sprintf(`{"$set":{"messages":[],"lastUpdated":%q}}`, stamp(ago)), head(letter, ago-3*time.Millisecond)}
}

// TestHosted: all sessions that a process hosts are its own in its folder, and not known in another one, which it may have been given. A terminal and a run
// beside it have none of them, and what the user cancels over the protocol ends the turn.
func TestHosted(t *testing.T) {
	w := newWorld(t)
	p, terminal := w.start(10*time.Minute, "--acp"), w.start(9*time.Minute)
	w.chat("a", "00", append(hosted("a", 8*time.Minute), user(7*time.Minute, "one"), answer(6*time.Minute, "fine"))...)
	w.chat("b", "05", append(hosted("b", time.Minute), user(9*time.Second, "two"))...)
	w.chat("c", "05", head("c", 9*time.Minute-5*time.Second), user(8*time.Second, "three"))
	w.logs([3]string{"c", "8500ms", "three"})
	w.want("a", adapters.Idle, "", p)
	if s := w.want("b", adapters.Working, "", p); !s.Shared {
		t.Error("not shared")
	}
	w.want("c", adapters.Working, "", terminal)
	w.chat("b", "05", fmt.Sprintf(`{"id":"x","timestamp":%q,"type":"gemini","content":"","toolCalls":[{"id":"t","name":"run_shell_command","status":"success","resultDisplay":"Command cancelled by user."}]}`,
		stamp(5*time.Second)))
	w.want("b", adapters.Idle, adapters.Interrupted, p)
	w.Write(w.Path(".gemini", "tmp", "other", ".project_root"), "/home/dev/other")
	w.Append(w.Path(".gemini", "tmp", "other", "chats", "session-2026-11-25T10-05-dddddddd.jsonl"), append(hosted("d", time.Minute), user(9*time.Second, "four"))...)
	w.want("d", adapters.Unknown, "", proc.Identity{})
	w.Procs.End(p.PID)
	w.want("a", adapters.Stopped, "", proc.Identity{})
	w.want("d", adapters.Stopped, adapters.Died, proc.Identity{})
	w.want("c", adapters.Working, "", terminal)
}

// TestRemovedFile: 0.61.0 removes the file of a terminal without a prompt when another one starts in its folder. What was there before stays stopped.
func TestRemovedFile(t *testing.T) {
	w := newWorld(t)
	w.chat("a", "00", head("a", 24*time.Hour), user(24*time.Hour, "one"), answer(24*time.Hour, "fine"))
	first, second := w.start(10*time.Minute), w.start(5*time.Minute)
	w.chat("b", "00", head("b", 5*time.Minute-5*time.Second))
	w.want("a", adapters.Stopped, adapters.Completed, proc.Identity{})
	w.want(fmt.Sprint(first.PID), adapters.Idle, "", first)
	w.want(fmt.Sprint(second.PID), adapters.Idle, "", second)
}

// TestWaitingSubAgent: a sub-agent that called a tool, of which no process runs, waits for the user, or works.
func TestWaitingSubAgent(t *testing.T) {
	w := newWorld(t)
	p := w.start(50 * time.Second)
	w.logs([3]string{"a", "21s", "one"})
	w.chat("a", "00", head("a", 45*time.Second), user(20*time.Second, "one"), answer(19*time.Second, ""))
	sub := w.Path(".gemini", "tmp", "proj", "chats", id("a"), id("c")+".jsonl")
	w.Append(sub, strings.Replace(head("c", 18*time.Second), `"main"`, `"subagent"`, 1), user(18*time.Second, "sub"), answer(17*time.Second, ""))
	w.want("a", adapters.Unknown, "", p)
	if s := w.want("c", adapters.Unknown, "", p); s.Parent != id("a") {
		t.Errorf("%+v", s)
	}
	tool := w.child(p, 16*time.Second)
	w.want("a", adapters.Working, "", p)
	w.want("c", adapters.Working, "", p)
	w.Procs.End(tool.PID)
	w.Append(sub, answer(10*time.Second, "done"))
	w.want("a", adapters.Unknown, "", p)
}
