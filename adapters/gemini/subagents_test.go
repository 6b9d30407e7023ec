package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// The answers of sub-agents count for their session, in the forms of all versions. Those of what belongs to no session are told.
func TestAnswersOfSubAgents(t *testing.T) {
	const main, gone, sub = "d3000000-0000-4000-8000-000000000001", "d3000000-0000-4000-8000-00000000000f", "d3000000-0000-4000-8000-000000000002"
	home := t.TempDir()
	chats := filepath.Join(home, ".gemini", "tmp", "app", "chats")
	write := func(path, id, kind string, input int) {
		header := fmt.Sprintf(`"sessionId":%q,"startTime":"2026-04-16T22:38:58Z","lastUpdated":"2026-04-16T22:39:20Z","kind":%q`, id, kind)
		prompt := fmt.Sprintf(`{"id":"u-%s","timestamp":"2026-04-16T22:39:01Z","type":"user","content":[{"text":"look"}]}`, id)
		answer := fmt.Sprintf(`{"id":"g-%s","timestamp":"2026-04-16T22:39:10Z","type":"gemini","content":"Done.","model":"m","tokens":{"input":%d,"output":1,"cached":0,"thoughts":0,"tool":0,"total":%d}}`, id, input, input+1)
		text := "{" + header + "}\n" + prompt + "\n" + answer + "\n"
		if filepath.Ext(path) == ".json" {
			text = "{" + header + `,"messages":[` + prompt + "," + answer + "]}"
		}
		must.Do(t, os.MkdirAll(filepath.Join(chats, filepath.Dir(path)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(chats, path), []byte(text), 0o600))
	}
	write("session-2026-04-16T22-38-d3000000.json", main, "main", 1)
	write(main+"/xb7gtb.json", "xb7gtb", "subagent", 10)
	write(main+"/"+sub+".jsonl", sub, "subagent", 100)
	write(sub+"/"+sub+"b.jsonl", sub+"b", "subagent", 1000) // a sub-agent's own
	write("skill-extraction-0a1b2c3d/mrp1k5.json", "mrp1k5", "subagent", 10_000)
	write("skill-extraction-0a1b2c3e/mrp1k6.jsonl", "mrp1k6", "subagent", 10_000)
	write(gone+"/xb7gtc.json", "xb7gtc", "subagent", 10_000)
	roll, err := New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: adaptertest.NewOwnTable(os.Getpid()), Now: time.Now}).
		Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
	must.Do(t, err)
	if len(roll.Sessions) != 1 || roll.Sessions[0].ID != main {
		t.Fatalf("%+v", roll.Sessions)
	}
	var all adapters.Usage
	for i := range roll.Sessions[0].Usage {
		all.Add(&roll.Sessions[0].Usage[i])
	}
	if all.Answers != 4 || all.Tokens.Input != 1111 || all.Turns != 1 {
		t.Errorf("%+v", all)
	}
	if l := roll.Ledger; l.LeftOut[kit.NoSession] != 3 || l.LeftOutAnswers[kit.NoSession] != 3 {
		t.Errorf("%+v", l)
	}
}
