package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// hiddenAgents returns those whose terminal shows no title, so that what they do not record can't be known: Gemini CLI, which writes a text before a call that
// asks as it writes the end of a turn, and Qwen Code, which records nothing of a prompt that its user takes back.
func hiddenAgents() []*realAgent {
	list := []*realAgent{geminiCLI(), qwenCode()}
	for _, r := range list {
		r.titles = false
		r.hidden = true
	}
	list[0].first = "[[say I will use the shell.]] "
	return list
}

// hidden returns the agent of a session whose terminal shows no title; nil: it has one.
func (t *harness) hidden(x *life) *realAgent {
	r, _ := t.witnesses[x.Session].(*realAgent)
	if r == nil || !r.hidden {
		return nil
	}
	return r
}

// mayAsk reports whether a row says of a hidden Gemini CLI that it answered or asks for something, while it does one of these.
func (t *harness) mayAsk(x *life, r *row) bool {
	truth, _ := t.truth(x)
	return r.MayAsk && x.Agent == gemini && t.hidden(x) != nil && (truth.Status == adapters.Waiting || truth.Status == adapters.Idle)
}

// mayHaveAsked reports whether a row says of a Gemini CLI that has stopped that it answered or asked for something, and nothing records which: the text before a call
// that asks is recorded as the end of a turn is, and the call that waits is not. It is recorded that its user left its terminal by a command.
func (t *harness) mayHaveAsked(x *life, r *row) bool {
	if x.Agent != gemini || !r.MayAsk || r.Status != string(adapters.Stopped) || x.Truth().Status != adapters.Stopped {
		return false
	}
	_, shares := t.witnesses[x.Session].(*sharedAgent)
	left := strings.HasSuffix(x.history[len(x.history)-1], ": "+exits) && !shares
	return !left && (x.Before().Status != adapters.Working || t.hidden(x) != nil)
}

// promptly is after how short a turn an answer need not be told, although it may ask for something.
const promptly = 8 * time.Second

// takenBackWithin is after how long it is no longer believed that a model begins to answer, so that a prompt of a hidden Qwen Code may have been taken back.
const takenBackWithin = 45 * time.Second

// takenBack reports whether the last that happened to a hidden session is that its prompt was taken back.
func (t *harness) takenBack(x *life) bool {
	return x.Agent == qwen && t.hidden(x) != nil && x.Truth() == scene.Truth{Status: adapters.Idle} && !x.interrupted.IsZero()
}

// propose has a session propose a plan, for which its screen asks until the user decides. The list and a notification must tell.
func (t *harness) propose(x *life) bool {
	r, _ := t.witnesses[x.Session].(*realAgent)
	if r == nil || r.plans == "" || x.IsSuspended() {
		return false
	}
	told := x.waits.told
	r.proposes(x.Session)
	x.waits.may++
	t.script.did(x, "proposes a plan")
	t.settle()
	if t.trayUp && t.forbidden == "" {
		t.until("the plan is not told", tellLimit, func() []string {
			t.hear()
			if x.waits.told > told {
				return nil
			}
			return []string{fmt.Sprintf("the plan of %s (%s) waits, and it is not told", x.ID, x.project)}
		})
	}
	r.endsPlan(x.Session)
	return true
}

// The words that the last line of Codex 0.171.0 begins with in its two modes.
const (
	planMode    = "GPT-5.5 medium ·"
	defaultMode = "GPT-5.5 default ·"
)

// endsPlan closes the question about a plan, and leaves the mode.
func (r *realAgent) endsPlan(s *scene.Session) {
	r.terminals[s.CWD].Dismiss("Escape", r.plans)
	r.terminals[s.CWD].Answer("BTab", defaultMode)
}

// proposes has an idle session propose a plan, until its screen asks for a decision.
func (r *realAgent) proposes(s *scene.Session) {
	terminal := r.terminals[s.CWD]
	terminal.Answer("BTab", planMode)
	s.Prompt(fmt.Sprintf("plan %d", len(r.box.Server.Requests())))
	r.answerWith(s, `[[say <proposed_plan>\n# Plan\n1. do it\n</proposed_plan>]]`)
	terminal.Shows(r.plans)
	s.Became(scene.Truth{Status: adapters.Idle, Outcome: adapters.Completed})
}

// lacksDecision reports whether a row does not say that something waits for the user's decision, of which the session's screen asks.
func (t *harness) lacksDecision(x *life, r *row) bool {
	state, _ := t.outside(x)
	return state == screen.Plan && r.Decision == ""
}

// goBack opens a terminal that is to continue the session x, which another terminal has, and goes back from the warning: its process has no session then, and
// x is what it was. Copilot CLI works in the folder of x from then on, so that its row would have the name of the other one in a run of random steps.
func (t *harness) goBack(r *realAgent, x *life) {
	t.Helper()
	other := &scene.Session{CWD: x.CWD + "-back"}
	must.Do(t, os.MkdirAll(other.CWD, 0o755))
	terminal := r.open(other, r.reopen(x.ID))
	terminal.Dismiss("Escape", r.inUse)
	terminal.Shows(r.ready)
	own := r.process(terminal.PID())
	t.until("a terminal that went back is wrong", realLimit, func() (wrong []string) {
		open := false
		for _, row := range t.rollcall.list().Sessions {
			open = open || row.PID == own.PID && row.Status == string(adapters.Idle)
			if row.PID == own.PID && row.Status != string(adapters.Idle) {
				wrong = append(wrong, fmt.Sprintf("%s in process %d is %s: %s", row.Agent, row.PID, row.Status, row.Evidence))
			}
			if problem := t.wrongRow(x, &row); row.ID == x.ID && problem != "" {
				wrong = append(wrong, x.ID+" "+problem)
			}
		}
		if !open && len(wrong) == 0 {
			wrong = append(wrong, fmt.Sprintf("process %d of %s is not listed", own.PID, r.name))
		}
		return wrong
	})
	x.ends.may++ // the end of that process may be told, too
	r.box.Signal(agents.Process{PID: own.PID}, unix.SIGKILL)
	r.box.Gone(agents.Process{PID: own.PID})
}

// TestStates has real agents take, in order, the steps after which an older Rollcall was wrong: a plan that Codex proposes, a terminal of Copilot CLI that went
// back, a text of Gemini CLI before a call that asks, and a prompt of Qwen Code that was taken back. The oracle judges each:
//
//	make harness AGENTS=real STATES=1
//
// ROLLCALL_HARNESS_ONLY names some of the agents, and ROLLCALL_HARNESS_BINARY an older build.
func TestStates(t *testing.T) {
	if os.Getenv("ROLLCALL_HARNESS_STATES") == "" || !areReal() {
		t.Skip("ROLLCALL_HARNESS_STATES is not set, or the agents are not the real ones: see make harness")
	}
	if os.Getenv(stageKey) != asTest {
		enter(t)
		return
	}
	pressure.Watch()
	h := newHarness(t, 1)
	for _, troop := range h.script.troops {
		r, shown := troop.agent.(*realAgent)
		if !shown || !r.hidden && (r.plans == "" && r.inUse == "" || troop != h.script.troop(r.name)) {
			continue
		}
		h.begin(troop)
		x := troop.live[0]
		h.settle()
		switch {
		case r.plans != "":
			x.Answer("an answer")
			h.script.did(x, "answers")
			h.propose(x)
		case r.inUse != "":
			x.Answer("an answer")
			h.script.did(x, "answers")
			h.goBack(r, x)
		case r.first != "":
			time.Sleep(time.Until(x.acted.Add(promptly))) // a shorter turn need not be told
			h.asks(x)
		case r.takesBack:
			x.Interrupt()
			x.interrupted = time.Now()
			h.script.did(x, "is interrupted")
		}
		h.settle()
		for len(troop.live) > 0 {
			h.end(troop, 0, troop.live[0].Kill, "SIGKILL at the end")
		}
		h.settle()
	}
	t.Logf("%d comparisons, %d differences", h.rounds, len(h.found))
	for reason, sessions := range h.unknown {
		t.Logf("unknown in %d sessions, if only for a moment: %s", len(sessions), reason)
	}
}
