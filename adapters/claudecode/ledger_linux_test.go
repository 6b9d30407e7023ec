package claudecode

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// agentLine is an answer of a sub-agent of session n.
func agentLine(n int, message, model string) string {
	line := strings.Replace(doneLine(message), `"isSidechain":false`, fmt.Sprintf(`"isSidechain":true,"agentId":"a","sessionId":%q`, id(n)), 1)
	return strings.Replace(line, "claude-opus-5-5", model, 1)
}

// What sub-agents used counts for their session with their own models, wherever they lie, and what has no session counts nowhere and is told. The session's own
// tokens stay those of its transcript.
func TestSubAgentsCount(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("go"), doneLine("m1"))
	in := func(parts ...string) string { return w.path(append([]string{"projects", slug}, parts...)...) }
	w.write(in(id(1), "subagents", "agent-1.jsonl"), agentLine(1, "a1", "haiku")+agentLine(1, "m1", "claude-opus-5-5")) // it begins with a copy
	w.write(in(id(1), "subagents", "workflows", "wf_1", "agent-2.jsonl"), agentLine(1, "a2", "sonnet"))
	w.write(in(id(1), "subagents", "notes.jsonl"), agentLine(1, "a3", "sonnet"))
	w.write(in("agent-3.jsonl"), agentLine(1, "a4", "haiku"))
	w.write(in("agent-4.jsonl"), agentLine(2, "a5", "haiku"))
	a := New(w.config)
	for range 2 {
		roll, err := a.Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
		if err != nil || len(roll.Sessions) != 1 {
			t.Fatalf("%v, %d sessions", err, len(roll.Sessions))
		}
		s := &roll.Sessions[0]
		output := map[string]int64{}
		for _, u := range s.Usage {
			output[u.Model] += u.Tokens.Output
		}
		if want := map[string]int64{"claude-opus-5-5": 4, "haiku": 8, "sonnet": 4}; !maps.Equal(output, want) || s.Tokens.Output != 4 {
			t.Errorf("%v, want %v; own %+v", output, want, s.Tokens)
		}
		if roll.Ledger.LeftOut["of sub-agents whose session is gone"] != 1 || len(roll.Ledger.LeftOut) != 1 || roll.Ledger.Copies != 0 {
			t.Errorf("%+v", roll.Ledger)
		}
		if turns, _ := s.Turns(); turns != 1 {
			t.Errorf("%d turns", turns)
		}
	}
}

// The record of an answer that has the reason for its end counts, also if another one states more; without such a record the largest counts.
func TestFinalRecordCounts(t *testing.T) {
	w := newFixture(t)
	of := func(message, stop string, input, output int) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-21T05:00:0%d.000Z","message":{"id":%q,"model":"m","content":[{"type":"text","text":"x"}],"stop_reason":%s,"usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n",
			output%10, message, stop, input, output)
	}
	w.transcript(1, promptLine("go"), of("m1", "null", 9000, 1), of("m1", `"end_turn"`, 50, 7), of("m1", "null", 9000, 3),
		of("m2", "null", 100, 1), of("m2", "null", 100, 20), of("m1", "null", 9000, 9))
	for _, q := range []adapters.Query{{Totals: true}, {Totals: true, Usage: true}} {
		sessions, _, err := w.discover(q)
		must.Do(t, err)
		s := sessions[id(1)]
		var used adapters.Tokens
		for _, u := range s.Usage {
			used.Add(u.Tokens)
		}
		if want := (adapters.Tokens{Input: 150, Output: 27}); *s.Tokens != want || q.Usage && used != want {
			t.Errorf("%+v, used %+v, want %+v", *s.Tokens, used, want)
		}
	}
}

// The sub-agents of sessions that are gone count nowhere, also in a folder without any session, and left_out has how many answers they gave.
func TestAgentsWithoutTheirSession(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("go"), doneLine("m1"))
	for n, folder := range map[int]string{2: slug, 3: "-gone"} {
		w.write(w.path("projects", folder, id(n), "subagents", "agent-1.jsonl"), agentLine(n, fmt.Sprint("a", n), "haiku")+agentLine(n, fmt.Sprint("b", n), "haiku"))
	}
	roll, err := New(w.config).Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
	must.Do(t, err)
	if l := roll.Ledger; len(roll.Sessions) != 1 || l.LeftOut[kit.NoSession] != 2 || l.LeftOutAnswers[kit.NoSession] != 4 {
		t.Errorf("%d sessions, %+v", len(roll.Sessions), l)
	}
}

// A session that goes on in two homes counts in both, its common beginning once.
func TestTwoHomesCount(t *testing.T) {
	w := newFixture(t)
	other := t.TempDir()
	w.transcript(1, promptLine("go"), doneLine("m1"), doneLine("m2"))
	must.Do(t, os.MkdirAll(filepath.Join(other, "projects", slug), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(other, "projects", slug, id(1)+".jsonl"), []byte(promptLine("go")+doneLine("m1")+doneLine("m3")+doneLine("m4")), 0o600))
	w.config.Homes = func() []string { return []string{other} }
	roll, err := New(w.config).Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
	must.Do(t, err)
	homes, answers := map[string]int{}, 0
	for _, u := range roll.Sessions[0].Usage {
		homes[u.Home] += u.Answers
		answers += u.Answers
	}
	if len(roll.Sessions) != 1 || answers != 4 || len(homes) != 2 {
		t.Errorf("%d sessions, %v", len(roll.Sessions), homes)
	}
}

// What counts for a fork are its own answers and its own part of the cost.
func TestForkCounts(t *testing.T) {
	w := newFixture(t)
	cost := func(usd float64) string {
		return fmt.Sprintf(`{"type":"cost-state","sessionId":"x","totalCostUSD":%g,"modelUsage":{"claude-opus-5-5":{"costUSD":%[1]g}}}`, usd) + "\n"
	}
	w.transcript(1, promptLine("go"), doneLine("m1"), cost(0.25))
	copied := strings.Replace(doneLine("m1"), `"parentUuid"`, fmt.Sprintf(`"sessionId":%q,"requestSessionId":%q,"parentUuid"`, id(2), id(1)), 1)
	w.transcript(2, promptLine("go"), copied, promptLine("on"), doneLine("m2"), cost(0.75))
	for _, q := range []adapters.Query{{}, {IDs: []string{id(1), id(2)}}} {
		q.Totals, q.Usage = true, true
		sessions, _, err := w.discover(q)
		must.Do(t, err)
		for n, usd := range map[int]float64{1: 0.25, 2: 0.5} {
			s := sessions[id(n)]
			if len(s.Usage) != 1 || s.Usage[0].Tokens.Output != 4 || s.Usage[0].CostUSD != usd || s.Usage[0].Turns != 1 || s.Usage[0].Answers != 1 {
				t.Errorf("%d: %+v", n, s.Usage)
			}
		}
		if sessions[id(2)].Tokens.Output != 8 { // its transcript holds both
			t.Errorf("%+v", sessions[id(2)].Tokens)
		}
	}
}

// A commit that is checked out without a branch has none.
func TestDetachedHead(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("go"), strings.Replace(doneLine("m1"), `"gitBranch":"main"`, `"gitBranch":"HEAD"`, 1))
	sessions, _, err := w.discover(adapters.Query{})
	if s := sessions[id(1)]; err != nil || s.Branch != "" {
		t.Errorf("%v, branch %q", err, s.Branch)
	}
}
