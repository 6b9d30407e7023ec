package adaptertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
)

// Check compares an adapter's whole answer for a recording with what a correct
// monitor must say: the same sessions, no more and no fewer, and in each every
// key that the expectation has, exactly. It also holds the rules that go for
// every session (see Invalid).
func Check(t testing.TB, got []adapters.Session, want Expectation) {
	t.Helper()
	for _, problem := range Differences(got, want) {
		t.Error(problem)
	}
}

// Differences is Check as a list of sentences, empty when all is as expected.
func Differences(got []adapters.Session, want Expectation) []string {
	var problems []string
	byID := make(map[string]*adapters.Session)
	for i := range got {
		s := &got[i]
		if byID[s.ID] != nil {
			problems = append(problems, fmt.Sprintf("session %s: reported twice", s.ID))
		}
		byID[s.ID] = s
		for _, p := range Invalid(s) {
			problems = append(problems, fmt.Sprintf("session %s: %s", s.ID, p))
		}
	}
	for i := range want.Sessions {
		w := &want.Sessions[i]
		s := byID[w.ID]
		delete(byID, w.ID)
		if s == nil {
			problems = append(problems, fmt.Sprintf("session %s (%s, %s): missing", w.ID, w.Agent, w.Status))
			continue
		}
		for _, p := range compare(s, w, want.starts) {
			problems = append(problems, fmt.Sprintf("session %s: %s (evidence %q)", w.ID, p, s.Evidence))
		}
	}
	for id, s := range byID {
		problems = append(problems, fmt.Sprintf("session %s (%s, evidence %q): is no session of this recording", id, s.Status, s.Evidence))
	}
	return problems
}

// compare lists in what a session differs from what was expected of it.
func compare(s *adapters.Session, w *Expected, starts map[int]uint64) []string {
	var d differences
	d.text("agent", string(s.Agent), &w.Agent)
	d.status(s, w)
	d.text("outcome", string(s.Outcome), w.Outcome)
	d.process(s, w, starts)
	d.text("cwd", s.CWD, w.CWD)
	d.text("branch", s.Branch, w.Branch)
	d.text("model", s.Model, w.Model)
	d.text("title", s.Title, w.Title)
	d.text("first_prompt", s.FirstPrompt, w.FirstPrompt)
	d.text("last_prompt", s.LastPrompt, w.LastPrompt)
	d.text("parent", s.Parent, w.Parent)
	d.tokens(s.Tokens, w.Tokens)
	if w.Cost != nil && s.CostUSD != *w.Cost {
		d.add("cost", s.CostUSD, *w.Cost)
	}
	return d
}

type differences []string

func (d *differences) add(what string, got, want any) {
	*d = append(*d, fmt.Sprintf("%s is %v, want %v", what, got, want))
}

func (d *differences) text(what, got string, want *string) {
	if want != nil && got != *want {
		*d = append(*d, fmt.Sprintf("%s is %q, want %q", what, got, *want))
	}
}

// status compares status and what is waited for. What is waited for goes with
// the expected status only, not with an also accepted one.
func (d *differences) status(s *adapters.Session, w *Expected) {
	if string(s.Status) == w.Status {
		d.text("waiting_for", string(s.WaitingFor), w.WaitingFor)
		return
	}
	if !slices.Contains(w.AlsoAccepted, string(s.Status)) {
		want := strings.Join(append([]string{w.Status}, w.AlsoAccepted...), " or ")
		d.text("status", string(s.Status), &want)
	}
}

// process compares the pid, and the start time with that of the recorded process.
func (d *differences) process(s *adapters.Session, w *Expected, starts map[int]uint64) {
	switch want := string(w.PID); {
	case want == "":
	case want == "null":
		if !s.Process.IsZero() {
			d.add("process", s.Process, "none")
		}
	case fmt.Sprint(s.Process.PID) != want:
		d.add("pid", s.Process.PID, want)
	case starts != nil && s.Process.Start != starts[s.Process.PID]:
		d.add("start of the process", s.Process.Start, starts[s.Process.PID])
	}
}

// tokens compares the expected kinds of tokens. No tokens at all are as good as
// zeros: an agent that recorded none states none.
func (d *differences) tokens(got *adapters.Tokens, want map[string]int64) {
	if got == nil {
		got = new(adapters.Tokens)
		for _, n := range want {
			if n != 0 {
				d.add("tokens", "not known", want)
				return
			}
		}
	}
	have := map[string]int64{
		"input": got.Input, "output": got.Output, "cache_read": got.CacheRead,
		"cache_write": got.CacheWrite, "reasoning": got.Reasoning,
	}
	for kind, n := range want {
		if m, known := have[kind]; !known || m != n {
			d.add("tokens."+kind, m, n)
		}
	}
}

// Invalid lists what is wrong with a session whatever the recording: the rules
// of the vocabulary that every adapter keeps.
func Invalid(s *adapters.Session) []string {
	var wrong []string
	rule := func(kept bool, format string, args ...any) {
		if !kept {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	rule(s.ID != "", "has no id")
	_, known := adapters.Describe(s.Agent)
	rule(known, "unknown agent %q", s.Agent)
	rule(slices.Contains([]adapters.Status{adapters.Working, adapters.Waiting, adapters.Idle, adapters.Stopped,
		adapters.Unknown}, s.Status), "unknown status %q", s.Status)
	rule(slices.Contains([]adapters.Outcome{"", adapters.Completed, adapters.Interrupted, adapters.Failed,
		adapters.Died}, s.Outcome), "unknown outcome %q", s.Outcome)
	rule(s.Evidence != "", "has no evidence for its status")
	if s.Status == adapters.Waiting {
		rule(s.WaitingFor == adapters.ForPermission || s.WaitingFor == adapters.ForQuestion, "waits for %q", s.WaitingFor)
	} else {
		rule(s.WaitingFor == "", "is %s, yet waits for %s", s.Status, s.WaitingFor)
	}
	if s.InTurn() {
		rule(s.Outcome == "", "its turn is open, yet it has the outcome %s", s.Outcome)
	}
	rule(s.Status != adapters.Stopped || s.Process.IsZero(), "is stopped, yet has %s", s.Process)
	rule(s.Outcome != adapters.Died || s.Status == adapters.Stopped || s.Status == adapters.Idle, "died, yet is %s", s.Status)
	rule(s.Parent != s.ID || s.ID == "", "is its own parent")
	return wrong
}
