package harness

import (
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/pressure"
	"rollcall/proc"
)

// quietAfter is that of eachEvent: from then on a row may say that a session gives no sign of life.
const quietAfter = 20 * time.Second

// restAfter is how many comparisons come between two rests.
const restAfter = 8

// mostLeft is how many processes are left behind at once.
const mostLeft = 4

// namesSession are the variables with which the real agents name the session to the processes that they start.
var namesSession = map[adapters.Name]string{agentname.ClaudeCode: "CLAUDE_CODE_SESSION_ID", agentname.Codex: "CODEX_THREAD_ID",
	agentname.Grok: "GROK_SESSION_ID", copilot: "COPILOT_AGENT_SESSION_ID", qwen: "QWEN_CODE_SESSION_ID"}

// children are the processes that a session's stand-in has started.
type children struct {
	wrote time.Time // when it recorded something last
	// wroteFrom is when the step with that record began: a real agent records it in between.
	wroteFrom time.Time
	running   proc.Identity // its command in the foreground, which runs for a moment again and again
	left      proc.Identity // what it left behind when it was killed
}

// alarms are the sessions of which a row said, or might have said, something that only this file judges.
type alarms struct {
	quiet, ran, left map[string]bool
	order            []*life // those that left something behind, the oldest first
}

// note counts a session.
func note(of *map[string]bool, x *life) {
	if *of == nil {
		*of = map[string]bool{}
	}
	(*of)[string(x.Agent)+" "+x.ID] = true
}

// command has a working session run a command, for which it records nothing.
func (t *harness) command(x *life) bool {
	if t.real || t.machine == nil || x.Remote {
		return false
	}
	x.running = t.machine.child(x.Process.PID)
	t.script.did(x, "runs a command, process %d", x.running.PID)
	return true
}

// endCommand ends the command of a session, before its next step.
func (t *harness) endCommand(x *life) {
	if t.machine != nil {
		t.machine.endChild(x.running)
	}
	x.running = proc.Identity{}
}

// leave has a session that is about to be killed leave a process behind.
func (t *harness) leave(x *life) {
	name := namesSession[x.Agent]
	if t.real || t.machine == nil || name == "" || !t.script.chance(50) {
		return
	}
	t.machine.endChild(x.left)
	x.left = t.machine.child(x.Process.PID, name+"="+x.ID)
	t.script.did(x, "leaves process %d behind", x.left.PID)
	t.alarms.order = append(t.alarms.order, x)
	if len(t.alarms.order) > mostLeft {
		t.machine.endChild(t.alarms.order[0].left)
		t.alarms.order = t.alarms.order[1:]
	}
}

// rest lets nothing happen for longer than a session takes to give no sign of life.
func (t *harness) rest() {
	t.rested = t.rounds
	t.script.note("nothing happens")
	time.Sleep(quietAfter + 2*time.Second)
}

// falseAlarm compares what a row says of signs of life, and of processes, with what the session's agent does; empty: it says nothing that is not so.
func (t *harness) falseAlarm(x *life, r *row) string {
	if t.machine == nil || x == nil {
		return ""
	}
	runs, quiet := t.machine.lives(x.running), time.Duration(r.QuietSeconds)*time.Second
	silent := time.Since(x.wrote)
	if t.real {
		silent = time.Since(x.wroteFrom)
	}
	working := r.Status == string(adapters.Working)
	if runs && silent > quietAfter && working {
		note(&t.alarms.ran, x)
	}
	left := 0
	if t.machine.lives(x.left) && r.Status == string(adapters.Stopped) {
		left = 1
	}
	switch {
	case quiet > 0 && !working:
		return fmt.Sprintf("gives no sign of life for %v, and does not work", quiet)
	case quiet > 0 && runs:
		return fmt.Sprintf("gives no sign of life for %v, and its command, process %d, runs", quiet, x.running.PID)
	case quiet > silent+time.Second || quiet > 0 && quiet < quietAfter:
		return fmt.Sprintf("gives no sign of life for %v, and recorded something %v ago", quiet, silent.Round(time.Second))
	case !t.real && working && !runs && !x.Remote && quiet == 0 && silent > quietAfter+time.Second+pressure.StalledSince(x.wrote):
		return fmt.Sprintf("has given no sign of life for %v, which it does not say", silent.Round(time.Second))
	case r.LeftBehind > left:
		return fmt.Sprintf("left %d processes behind, and %d of them live", r.LeftBehind, left)
	case r.LeftBehind < left:
		return fmt.Sprintf("left process %d behind, which it does not say", x.left.PID)
	case !t.real && len(r.Background) > 0:
		return fmt.Sprintf("runs %v in the background, and nothing runs", r.Background)
	}
	if quiet > 0 {
		note(&t.alarms.quiet, x)
	}
	if left > 0 {
		note(&t.alarms.left, x)
	}
	return ""
}
