package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/adapters"
	"rollcall/internal/must"
)

var compareFacts = cmp.Options{
	cmp.AllowUnexported(facts{}, head{}, turn{}, toolCall{}, tokens{}),
	cmpopts.EquateEmpty(),
}

// A rollout that is read on, record by record as it grows, gives what a fresh
// read of the same state gives: for every recorded rollout and every length.
func TestReadOnIsLikeReadAfresh(t *testing.T) {
	paths, err := filepath.Glob(recordings + "/*/home/.codex/sessions/*/*/*/*.jsonl")
	if err != nil || len(paths) < 9 {
		t.Fatalf("%d rollouts, %v", len(paths), err)
	}
	texts := map[string]string{
		"before 0.106": newScript(threadA, "0.80.0").prompt("one").context("gpt-5.5").answer("I look").call("c1", `{}`).
			tokens(10, 0, 1).result("c1", "x").answer("fine").tokens(20, 0, 2).prompt("two").
			event(`{"type":"turn_aborted","reason":"interrupted"}`).prompt("three").text(),
		"resumed by a newer version": newScript(threadA, "0.80.0").prompt("one").answer("fine").tokens(1, 0, 1).
			turn("t1", "two").start("t2").prompt("three").call("c1", `{}`).event(`{"type":"turn_aborted","turn_id":"t2","reason":"interrupted"}`).text(),
		"read before its first prompt": newScript(threadA, "0.142.5").turn("a", "one").turn("b", "two").turn("c", "three").text(),
		"garbage, and two records on a line": strings.Replace(newScript(threadA, "0.142.5").turn("a", "one").text(), `}}`+"\n"+`{"timestamp":"2026-11-21T05:00:05`, `}}{"timestamp":"2026-11-21T05:00:05`, 1) +
			"{\n" + strings.Join(scriptAt(began.Add(time.Hour), threadA, "0.142.5").turn("b", "two").lines[1:], "\n") + "\n",
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must.Do(t, err)
		texts[p] = string(b)
	}
	for name, text := range texts {
		var grown progress
		for end := range len(text) + 1 {
			if end != len(text) && text[end] != '\n' && end%97 != 0 { // some cuts in the midst of a record
				continue
			}
			part := text[:end]
			var before *progress
			if end > 0 && grown.next > 0 {
				before = &grown
			}
			fresh, err := readRollout(t.Context(), strings.NewReader(part), int64(end), nil)
			must.Do(t, err)
			grown, err = readRollout(t.Context(), strings.NewReader(part), int64(end), before)
			must.Do(t, err)
			if fresh.next != grown.next {
				t.Fatalf("%s at %d: read to %d, afresh to %d", name, end, grown.next, fresh.next)
			}
			if diff := cmp.Diff(fresh.facts, grown.facts, compareFacts); diff != "" {
				t.Fatalf("%s at %d (-fresh +grown):\n%s", name, end, diff)
			}
		}
	}
}

const enteredReview = `{"type":"item_completed","turn_id":"outer","item":{"type":"EnteredReviewMode","id":"e","user_facing_hint":"look"}}`

func leftReview(turn, result string) string {
	return fmt.Sprintf(`{"type":"item_completed","turn_id":%q,"item":{"type":"ExitedReviewMode","id":"f","review_output":%s}}`, turn, result)
}

// What records mean, in the order in which they come.
func TestTurns(t *testing.T) {
	version := func(v string) *script { return newScript(threadA, v) }
	tests := []struct {
		name   string
		script *script
		state  turnState
		want   adapters.Outcome
		calls  int
	}{
		{"no turn", version("0.169.0"), noTurn, "", 0},
		{"open", version("0.169.0").start("a").prompt("x"), open, "", 0},
		{"completed", version("0.169.0").turn("a", "x"), ended, adapters.Completed, 0},
		{"failed with its error", version("0.169.0").start("a").prompt("x").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null,"error":{"message":"bad","codex_error_info":"other"}}`), ended, adapters.Failed, 0},
		{"an error that fails no turn", version("0.169.0").start("a").prompt("x").answer("y").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":"y","error":{"message":"bad","codex_error_info":{"active_turn_not_steerable":{"turn_kind":"compact"}}}}`), ended, adapters.Completed, 0},
		{"failed, 0.142.5 says nothing", version("0.142.5").start("a").prompt("x").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null}`), ended, adapters.Failed, 0},
		{"failed, 0.125.0 says so before", version("0.125.0").start("a").prompt("x").event(`{"type":"error","message":"bad","codex_error_info":"other"}`).
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null}`), ended, adapters.Failed, 0},
		{"ended without a word after work, can't be known", version("0.142.5").start("a").prompt("x").call("c", `{}`).result("c", "y").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null}`), ended, "", 0},
		{"a turn without a prompt needs no word", version("0.142.5").start("a").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null}`), ended, adapters.Completed, 0},
		{"interrupted", version("0.169.0").start("a").prompt("x").
			event(`{"type":"turn_aborted","turn_id":"a","reason":"interrupted"}`), ended, adapters.Interrupted, 0},
		{"out of budget", version("0.169.0").start("a").event(`{"type":"turn_aborted","turn_id":"a","reason":"budget_limited"}`), ended, adapters.Failed, 0},
		{"an earlier turn's late end", version("0.169.0").start("a").start("b").
			event(`{"type":"turn_aborted","turn_id":"a","reason":"replaced"}`), open, "", 0},
		// A review's beginning names the turn of the reviewing sub-thread, its end the one around it.
		{"a review", version("0.169.0").turn("a", "x").event(enteredReview).start("inner").prompt("look").event(leftReview("outer", `{"findings":[]}`)).
			answer("fine").event(`{"type":"task_complete","turn_id":"outer","last_agent_message":null}`), ended, adapters.Completed, 0},
		{"a review that goes on", version("0.169.0").turn("a", "x").event(enteredReview).start("inner").prompt("look"), open, "", 0},
		{"a review interrupted", version("0.169.0").event(enteredReview).start("inner").prompt("look").event(leftReview("outer", "null")).
			answer("Review was interrupted.").event(`{"type":"turn_aborted","turn_id":"outer","reason":"interrupted"}`), ended, adapters.Interrupted, 0},
		{"a review in 0.142.5", version("0.142.5").event(`{"type":"entered_review_mode","user_facing_hint":"look"}`).start("inner").prompt("look").
			event(`{"type":"exited_review_mode","review_output":{"findings":[]}}`).answer("fine").
			event(`{"type":"task_complete","turn_id":"outer","last_agent_message":null}`), ended, adapters.Completed, 0},
		{"a failed review in 0.142.5", version("0.142.5").start("inner").prompt("look").
			event(`{"type":"exited_review_mode","review_output":null}`).answer("Review was interrupted.").
			event(`{"type":"task_complete","turn_id":"outer","last_agent_message":null}`), ended, adapters.Failed, 0},
		{"what trails behind the end", version("0.169.0").turn("a", "x").result("c", "late").
			event(`{"type":"item_completed","item":{"type":"SubAgentActivity"}}`), ended, adapters.Completed, 0},
		{"an open call", version("0.169.0").start("a").prompt("x").call("c", `{}`), open, "", 1},
		{"one of two calls answered", version("0.169.0").start("a").call("c", `{}`).call("d", `{}`).result("c", "y"), open, "", 1},
		{"calls end with the turn", version("0.169.0").start("a").call("c", `{}`).done("a"), ended, adapters.Completed, 0},
		{"undone", version("0.169.0").turn("a", "x").event(`{"type":"thread_rolled_back","num_turns":1}`), ended, "", 0},
		{"an older version went on", version("0.169.0").turn("a", "x").prompt("y"), open, "", 0},
		{"renamed afterwards", version("0.169.0").turn("a", "x").event(`{"type":"thread_name_updated","thread_name":"N"}`), ended, adapters.Completed, 0},
	}
	for _, test := range tests {
		f := test.script.facts(t)
		if f.turn.state != test.state || f.turn.outcome != test.want || len(f.calls) != test.calls {
			t.Errorf("%s: state %d, outcome %q, %d calls; want %d, %q, %d", test.name,
				f.turn.state, f.turn.outcome, len(f.calls), test.state, test.want, test.calls)
		}
	}
}

func TestPromptsAreTheUsers(t *testing.T) {
	s := newScript(threadA, "0.80.0").prompt("<environment_context>\n <cwd>/x</cwd>").prompt("# AGENTS.md instructions for /x\n\nBe nice").
		prompt("# Context from my IDE setup:\n\n## Open tabs: a.go\n\n## My request for Codex:\nfix it\n").
		prompt("  and this \x1b[31m too ").prompt("<turn_aborted>\nThe user")
	f := s.facts(t)
	if f.firstPrompt != "fix it" {
		t.Errorf("first prompt %q", f.firstPrompt)
	}
	if f.lastPrompt != "and this \x1b[31m too" {
		t.Errorf("last prompt %q: the agent's text must come unchanged", f.lastPrompt)
	}
	f = newScript(threadA, "0.169.0").prompt(strings.Repeat("界", 5000)).facts(t)
	if len(f.firstPrompt) > textLimit || !strings.HasSuffix(f.firstPrompt, "界") {
		t.Errorf("a huge prompt was kept with %d bytes", len(f.firstPrompt))
	}
}

// Tokens: the newest of the cumulative counts, however far back it lies; another
// thread's and a null one don't count.
func TestTokens(t *testing.T) {
	s := newScript(threadA, "0.169.0").turn("a", "x")
	s.start("b").prompt("go on")
	filler := strings.Repeat("y", 8000)
	for i := range 1000 { // 8 MB behind it
		s.result(fmt.Sprint("n", i), filler)
	}
	s.event(`{"type":"token_count","info":null,"rate_limits":{}}`)
	s.add(`{"timestamp":%q,"type":"token_usage_record","payload":{"thread_id":"other","thread_token_usage":{"input_tokens":9000,"total_tokens":9000}}}`, s.now())
	f := s.facts(t)
	if diff := cmp.Diff(&adapters.Tokens{Input: 60, CacheRead: 40, Output: 10}, f.tokenTotals()); diff != "" {
		t.Error(diff)
	}
	if f.model != "gpt-5.5" || f.cwd != "/home/dev/other" || f.lastPrompt != "go on" {
		t.Errorf("model %q, folder %q, last prompt %q", f.model, f.cwd, f.lastPrompt)
	}
	s.add(`{"timestamp":%q,"type":"token_usage_record","payload":{"thread_id":%q,"usage":{"input_tokens":300,"total_tokens":310},"thread_token_usage":{"input_tokens":400,"cached_input_tokens":50,"cache_write_input_tokens":20,"output_tokens":20,"reasoning_output_tokens":5,"total_tokens":420}}}`, s.now(), threadA)
	f = s.facts(t)
	if diff := cmp.Diff(&adapters.Tokens{Input: 330, CacheRead: 50, CacheWrite: 20, Output: 20, Reasoning: 5}, f.tokenTotals()); diff != "" {
		t.Error(diff)
	}
	if f.context != 310 || f.window != 258400 {
		t.Errorf("context %d of %d", f.context, f.window)
	}
	if f := newScript(threadA, "0.169.0").start("a").prompt("x").facts(t); f.tokenTotals() != nil {
		t.Error("tokens without any record of them")
	}
}

// A sub-agent's rollout begins with its parent's records.
func TestSubAgents(t *testing.T) {
	record := func(n int, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-21T05:00:09.000Z","ordinal":%d,"type":"event_msg","payload":%s}`, n, payload)
	}
	s := newScript(threadB, "0.169.0", `"parent_thread_id":"`+threadA+`","thread_source":"subagent","agent_path":"/root/look","subagent_history_start_ordinal":3`)
	s.lines = append(s.lines,
		record(1, `{"type":"user_message","message":"the parent's"}`),
		record(2, `{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"total_tokens":9}}}`),
		record(3, `{"type":"task_started","turn_id":"t"}`))
	f := s.facts(t)
	if f.parent != threadA || f.task != "look" || f.firstPrompt != "" || f.totals != nil || f.turn.state != open {
		t.Errorf("parent %q, task %q, prompt %q, tokens %v, turn %d", f.parent, f.task, f.firstPrompt, f.totals, f.turn.state)
	}
	s.lines = append(s.lines, record(2, `{"type":"task_complete","turn_id":"t"}`))
	if f := s.facts(t); f.turn.state != open {
		t.Error("the parent's end ended the sub-agent's turn")
	}
	for name, meta := range map[string]string{
		"spawned (before 0.169)":     `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + threadA + `","depth":1,"agent_nickname":"Bo"}}}`,
		"only the root's id is told": `"source":{"subagent":"review"},"session_id":"` + threadA + `"`,
	} {
		if f := newScript(threadB, "0.142.5", meta).facts(t); f.parent != threadA {
			t.Errorf("%s: parent %q", name, f.parent)
		}
	}
	for name, meta := range map[string]string{
		"0.147": `"thread_source":"subagent","source":{"subagent":{"other":"guardian"}},"parent_thread_id":"` + threadA + `"`,
		"0.151": `"thread_source":"guardian_review","parent_thread_id":"` + threadA + `"`,
	} {
		if f := newScript(threadB, "0.147.0", meta).facts(t); f.parent != threadA || !f.guardian {
			t.Errorf("guardian review of %s: parent %q, guardian %v", name, f.parent, f.guardian)
		}
	}
	if f := newScript(threadB, "0.142.5", `"git":{"branch":"HEAD"}`).facts(t); f.branch != "" {
		t.Errorf("a commit without a branch is the branch %q", f.branch)
	}
	if f := newScript(threadB, "0.142.5", `"source":"cli","session_id":"`+threadA+`"`).facts(t); f.parent != "" {
		t.Errorf("a session of the user's has the parent %q", f.parent)
	}
}

// TestLimit: a turn that failed by a limit is known, also where the error comes before the end of the turn.
func TestLimit(t *testing.T) {
	failed := func(info string) *script {
		return newScript(threadA, "0.169.0").start("a").prompt("x").
			event(`{"type":"task_complete","turn_id":"a","last_agent_message":null,"error":{"message":"bad","codex_error_info":"` + info + `"}}`)
	}
	before := newScript(threadA, "0.125.0").start("a").prompt("x").event(`{"type":"error","message":"bad","codex_error_info":"usage_limit_exceeded"}`).
		event(`{"type":"task_complete","turn_id":"a","last_agent_message":null}`)
	for name, tt := range map[string]struct {
		script *script
		want   bool
	}{
		"a limit":       {failed("usage_limit_exceeded"), true},
		"another error": {failed("other"), false},
		"said before":   {before, true},
		"the next turn": {failed("usage_limit_exceeded").turn("b", "y"), false},
	} {
		if got := tt.script.facts(t).turn.limited; got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
