package codex

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Statuses that no recording holds: each line is one sight.
func TestDecide(t *testing.T) {
	tui := &host{Process: proc.Process{Identity: proc.Identity{PID: 7, Start: 1}}}
	younger := &host{Process: proc.Process{Identity: proc.Identity{PID: 8, Start: 1}, Started: began.Add(time.Minute)}, reopens: true}
	startedAt := func(after time.Duration) *host {
		return &host{Process: proc.Process{Identity: younger.Identity, Started: began.Add(after)}, reopens: true}
	}
	clockSet := func(by time.Duration) *host { // since the process started, before the turn
		return &host{Process: proc.Process{Identity: younger.Identity, Started: began.Add(by)}, madeOwn: began, role: terminal}
	}
	fresh := &host{Process: younger.Process, role: terminal}
	hidden := &host{Process: tui.Process, filesErr: errors.New("no right")}
	old := func() *script { return newScript(threadA, "0.80.0") }
	now := func() *script { return newScript(threadA, "0.169.0") }
	escalated := `{"cmd":"x","sandbox_permissions":"require_escalated"}`
	patch := `{"type":"custom_tool_call","status":"completed","call_id":"p","name":"apply_patch","input":"*** Begin Patch"}`
	type status = adapters.Status
	tests := []struct {
		name    string
		script  *script
		later   time.Duration // after the last record
		sight   observation
		want    status
		waiting adapters.WaitingFor
		outcome adapters.Outcome
		says    string
	}{
		{"nothing yet", now(), 0, observation{host: tui}, adapters.Idle, "", "", "no turn yet"},
		{"never a turn", now(), 0, observation{}, adapters.Stopped, "", "", "no turn recorded"},
		{"0.80: whether it works is not recorded", old().prompt("x").answer("y").tokens(1, 0, 1), 0, observation{host: tui}, adapters.Unknown, "", "", "known from Codex 0.137 on, and not of 0.80.0"},
		{"0.136: a turn is open", newScript(threadA, "0.136.0").start("a").prompt("x"), 0, observation{host: tui}, adapters.Unknown, "", "", "not of 0.136.0"},
		{"0.136: its last record closes a turn", newScript(threadA, "0.136.0").turn("a", "x"), 0, observation{host: tui}, adapters.Idle, "", adapters.Completed, "last turn completed"},
		{"0.80: interrupted", old().prompt("x").event(`{"type":"turn_aborted","reason":"interrupted"}`), 0, observation{host: tui}, adapters.Idle, "", adapters.Interrupted, ""},
		{"0.80: gone after an answer", old().prompt("x").answer("y"), 0, observation{}, adapters.Stopped, "", "", "does not record how a turn ends"},
		{"0.106: gone before one", newScript(threadA, "0.106.0").start("a").prompt("x"), 0, observation{}, adapters.Stopped, "", adapters.Died, "left open"},
		{"0.80: resumed by 0.169", numbered(old().prompt("x").answer("y").start("a").prompt("z")), 0, observation{host: tui}, adapters.Working, "", "", "turn open"},
		{"0.169: a word in the midst of a turn is no end", now().start("a").prompt("x").answer("I look").tokens(1, 0, 1), time.Hour, observation{host: tui}, adapters.Working, "", "", ""},
		{"an escalated call, too young to tell", now().start("a").call("c", escalated), 500 * time.Millisecond, observation{host: tui, nothingRuns: true}, adapters.Working, "", "", "the files do not say which"},
		{"an escalated call on a busy machine, too young to tell", now().start("a").call("c", escalated), 1700 * time.Millisecond, observation{host: tui, nothingRuns: true, pressure: 1}, adapters.Working, "", "", "the files do not say which"},
		{"an escalated call of which nothing runs", now().start("a").call("c", escalated), time.Minute, observation{host: tui, nothingRuns: true}, adapters.Waiting, adapters.ForPermission, "", "no process of the call runs"},
		{"an escalated call that may run", now().start("a").call("c", escalated), time.Minute, observation{host: tui}, adapters.Working, "", "", "the files do not say which"},
		{"an escalated call that runs", now().start("a").call("c", escalated), time.Minute, observation{host: tui, running: 9}, adapters.Working, "", "", "process 9 runs"},
		{"the user is never asked", now().start("a").add(`{"timestamp":"2026-11-21T05:00:02Z","type":"turn_context","payload":{"approval_policy":"never"}}`).call("c", escalated), time.Minute, observation{host: tui, nothingRuns: true}, adapters.Working, "", "", "exec_command since"},
		{"a run can't ask", now().start("a").context("m").call("c", escalated), time.Minute, observation{host: &host{Process: tui.Process, role: run}, nothingRuns: true}, adapters.Working, "", "", "exec_command since"},
		{"a model is asked", now().start("a").add(`{"timestamp":"2026-11-21T05:00:02Z","type":"turn_context","payload":{"approval_policy":"on-request","approvals_reviewer":"auto_review"}}`).call("c", escalated), time.Minute, observation{host: tui, nothingRuns: true}, adapters.Working, "", "", "the files do not say which"},
		{"a call within the sandbox", now().start("a").context("m").call("c", `{"cmd":"x"}`), 5 * time.Second, observation{host: tui, nothingRuns: true}, adapters.Working, "", "", "the files do not say which"},
		{"a call within the sandbox, of which nothing runs", now().start("a").context("m").call("c", `{"cmd":"x"}`), time.Minute, observation{host: tui, nothingRuns: true}, adapters.Waiting, adapters.ForPermission, "", "no process of the call runs: it waits"},
		{"a patch, too young to tell", now().start("a").context("m").item(patch), 500 * time.Millisecond, observation{host: tui, nothingRuns: true}, adapters.Working, "", "", "the files do not say which"},
		{"a patch that nothing works on", now().start("a").context("m").item(patch), time.Minute, observation{host: tui, nothingRuns: true}, adapters.Waiting, adapters.ForPermission, "", "apply_patch since"},
		{"a patch whose outcome waits for others'", now().start("a").context("m").item(patch).event(`{"type":"item_completed","turn_id":"a","item":{"type":"FileChange","id":"p","status":"completed"}}`), time.Minute, observation{host: tui}, adapters.Working, "", "", "turn open"},
		{"resumed after its process was killed", now().start("a").prompt("x").call("c", escalated), time.Hour, observation{host: younger, nothingRuns: true}, adapters.Idle, "", adapters.Died, "before process 8 began"},
		{"resumed at once", now().start("a").prompt("x"), time.Hour, observation{host: startedAt(2100 * time.Millisecond)}, adapters.Idle, "", adapters.Died, "before process 8 began"},
		{"resumed in the clock tick of the last record", now().start("a").prompt("x"), time.Hour, observation{host: startedAt(1995 * time.Millisecond)}, adapters.Idle, "", adapters.Died, "before process 8 began"},
		{"resumed at once by the daemon", now().start("a").prompt("x"), time.Hour, observation{host: startedAt(2100 * time.Millisecond), answer: &threadStatus{Type: "idle"}}, adapters.Idle, "", adapters.Died, "says idle; last turn left open"},
		{"the daemon's own turn, over before its records are", now().start("a").prompt("x"), time.Hour, observation{host: tui, answer: &threadStatus{Type: "idle"}}, adapters.Idle, "", "", "says idle"},
		{"a turn that begins with its process", now().start("a").prompt("x"), time.Hour, observation{host: startedAt(time.Second)}, adapters.Working, "", "", "turn open"},
		{"a clock that was set forward since the turn began", now().start("a").prompt("x"), time.Hour, observation{host: startedAt(1500 * time.Millisecond)}, adapters.Working, "", "", "turn open"},
		{"resumed, and a turn of its own", scriptAt(younger.Started, threadA, "0.169.0").start("a").prompt("x"), 0, observation{host: younger}, adapters.Working, "", "", "turn open"},
		{"a clock that was set forward by an hour", now().start("a").prompt("x"), time.Hour, observation{host: clockSet(time.Hour)}, adapters.Working, "", "", "turn open"},
		{"a clock that was set back by an hour", now().start("a").prompt("x"), 0, observation{host: clockSet(-time.Hour)}, adapters.Working, "", "", "turn open"},
		{"an earlier process's turn, and a clock that was set back", scriptAt(began.Add(-time.Minute), threadA, "0.169.0").start("a").prompt("x"), 0, observation{host: clockSet(-time.Hour)}, adapters.Unknown, "", "", "or the clock was set"},
		{"an earlier process's turn, and a clock that was set forward", scriptAt(began.Add(-time.Minute), threadA, "0.169.0").start("a").prompt("x"), 0, observation{host: clockSet(time.Hour)}, adapters.Idle, "", adapters.Died, "before process 8 began"},
		{"a call, and a clock that was set", now().start("a").context("m").call("c", escalated), time.Hour, observation{host: clockSet(time.Hour)}, adapters.Unknown, "", "", "the clock was set since"},
		{"a call of the future: the clock was set back", now().start("a").context("m").call("c", escalated), -time.Hour, observation{host: tui, nothingRuns: true}, adapters.Unknown, "", "", "the clock was set since"},
		{"resumed, in a terminal that is older than its leader", now().start("a").prompt("x"), time.Hour, observation{host: &host{Process: younger.Process, reopens: true, olderTerminal: true}}, adapters.Unknown, "", "", "or the clock was set"},
		{"an interface that left no trace of its start", now().start("a").prompt("x"), time.Hour, observation{host: fresh}, adapters.Unknown, "", "", "or the clock was set"},
		{"a run has only its own thread", now().start("a").prompt("x"), time.Hour, observation{host: &host{Process: younger.Process, role: run}}, adapters.Working, "", "", "turn open"},
		{"every command is asked about", now().start("a").add(`{"timestamp":"2026-11-21T05:00:02Z","type":"turn_context","payload":{"approval_policy":"untrusted"}}`).call("c", `{"cmd":"x"}`), 1100 * time.Millisecond, observation{host: tui, nothingRuns: true}, adapters.Waiting, adapters.ForPermission, "", "no process of the call runs"},
		{"a question", now().start("a").item(`{"type":"function_call","name":"request_user_input","arguments":"{}","call_id":"c"}`), 0, observation{host: tui}, adapters.Waiting, adapters.ForQuestion, "", "request_user_input"},
		{"a host that can't be looked into", now().turn("a", "x"), 0, observation{possibleHost: hidden}, adapters.Unknown, "", "", "no right"},
		{"a rollout that could not be read", now().turn("a", "x"), 0, observation{host: tui, unread: errors.New("disk on fire")}, adapters.Unknown, "", "", "disk on fire"},
		{"the reason of a failure", now().start("a").event(`{"type":"task_complete","error":{"message":"quota"}}`), 0, observation{}, adapters.Stopped, "", adapters.Failed, "quota"},
	}
	for _, test := range tests {
		s := test.sight
		s.facts = test.script.facts(t)
		s.now = s.facts.last.Add(test.later)
		if s.facts.last.IsZero() {
			s.now = began
		}
		v := decide(s)
		if v.Status != test.want || v.WaitingFor != test.waiting || v.Outcome != test.outcome || !strings.Contains(v.Evidence, test.says) {
			t.Errorf("%s: %s %s %s %q; want %s %s %s %q", test.name, v.Status, v.WaitingFor, v.Outcome, v.Evidence,
				test.want, test.waiting, test.outcome, test.says)
		}
	}
}

// numbered adds ordinals to the last two records, as 0.169 writes them.
func numbered(s *script) *script {
	for i := len(s.lines) - 2; i < len(s.lines); i++ {
		s.lines[i] = `{"ordinal":7,` + s.lines[i][1:]
	}
	return s
}
