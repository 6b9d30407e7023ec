package pistore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
	"rollcall/proc"
)

// The sub-agents of the extension pi-subagents count for their session: each answer once, however often it was copied into a fork, and their prompts are no turns.
func TestAnswersOfSubAgents(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	home := t.TempDir()
	folder := filepath.Join(home, ".pi", "agent", "sessions", "--p--")
	write := func(path, id string, begun time.Time, more string, lines ...string) string {
		path = filepath.Join(folder, path)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		header := fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":"/p"%s}`, id, stamp(begun), more)
		must.Do(t, os.WriteFile(path, []byte(header+"\n"+strings.Join(lines, "")), 0o600))
		return path
	}
	n := 0
	turn := func(after time.Duration, input int) string {
		n++
		return fmt.Sprintf(`{"type":"message","id":"%08x","timestamp":%q,"message":{"role":"user","content":"go"}}`+"\n"+
			`{"type":"message","id":"a%07x","timestamp":%[2]q,"message":{"role":"assistant","model":"m","stopReason":"stop","usage":{"input":%[4]d,"output":1},"content":[]}}`+"\n", n, stamp(at.Add(after)), n, input)
	}
	name := func(id string, begun time.Time) string {
		return strings.NewReplacer(":", "-", ".", "-").Replace(stamp(begun)) + "_" + id
	}
	first, later := turn(time.Minute, 1), turn(time.Hour, 10)
	parent := name(idA, at)
	from := fmt.Sprintf(`,"parentSession":%q`, filepath.Join(folder, parent+".jsonl"))
	forked := at.Add(30 * time.Minute)
	write(parent+".jsonl", idA, at, "", first, later)
	write(parent+"/worker/run-0/session.jsonl", oldA, forked, "", turn(time.Hour, 100))
	write(parent+"/worker/run-0/session/scout/run-0/session.jsonl", oldB, forked, "", turn(time.Hour, 1000))
	write(parent+"/forks/"+name(oldC, forked)+".jsonl", oldC, forked, from, first, turn(time.Hour, 10_000))
	write(parent+"/forks/"+name(idC, forked)+".jsonl", idC, forked, "", first, turn(time.Hour, 100_000)) // some versions do not name the parent
	write(name(idB, forked)+".jsonl", idB, forked, from, first, turn(time.Hour, 1_000_000))              // earlier ones keep forks beside it
	write(name(oldA, at)+"/worker/run-0/session.jsonl", oldA, forked, "", turn(time.Hour, 5), turn(2*time.Hour, 5))
	roll, err := newStore(Pi, adapters.Config{Home: home, Env: func(string) string { return "" }, Table: proc.Open(), Now: time.Now}).
		Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
	must.Do(t, err)
	got := map[string]adapters.Usage{}
	for _, s := range roll.Sessions {
		var all adapters.Usage
		for i := range s.Usage {
			all.Add(&s.Usage[i])
		}
		got[s.ID] = all
	}
	if a := got[idA]; len(got) != 2 || a.Tokens.Input != 111_111 || a.Answers != 6 || a.Turns != 2 {
		t.Errorf("%+v", got)
	}
	if b := got[idB]; b.Tokens.Input != 1_000_000 || b.Answers != 1 {
		t.Errorf("%+v", b)
	}
	if l := roll.Ledger; l.LeftOut[kit.NoSession] != 1 || l.LeftOutAnswers[kit.NoSession] != 2 {
		t.Errorf("%+v", l)
	}
}
