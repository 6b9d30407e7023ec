package kimi

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

const sampleLines = `{"type":"metadata","protocol_version":"1.5","created_at":1795852988326}
{"type":"profile.bind","agentId":"main","environmentDisclosure":{"cwd":"/p"},"time":1795852988539}
{"type":"turn.prompt","agentId":"main","input":[{"type":"text","text":"first hello"}],"origin":{"kind":"user"},"promptId":"msg_1","turnId":0,"time":1795852988631}
{"turnId":0,"type":"agent.turn.started","time":1795852988622,"kind":"event"}
{"type":"llm.request","model":"mock-1","time":1795852988825}
{"type":"usage.record","model":"mock","usage":{"inputOther":230,"output":34,"inputCacheRead":-1,"inputCacheCreation":1e300},"usageScope":"turn","time":1795852988967}
{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"u","part":{"type":"text","text":"Hello"}},"time":1795852988982}
{"type":"interaction.request","id":"a1","kind":"approval","toolCallId":"c1","request":{"toolName":"Bash","action":"Running","display":{"command":"make"}},"time":1}
{"type":"interaction.resolved","id":"a1","response":{"decision":"approved"},"time":2}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"v","toolCallId":"c1","name":"Bash","args":{"command":"make"}},"time":3}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c1","result":{"output":"ok","isError":true}},"time":4}
{"type":"turn.step.retrying","failedAttempt":1,"maxAttempts":10,"statusCode":500,"time":5}
{"type":"turn.ended","turnId":0,"reason":"failed","error":{"message":"429 try again in 2 hours","details":{"statusCode":429}},"time":1795852989024}
{"type":"full_compaction.begin","time":6}
{"type":"subagent.spawned","subagentId":"agent-0","runInBackground":true,"time":7}
{"type":"forked","agentId":"main","time":8}
{"id":"session_1","version":3,"cwd":"/p","createdAt":1,"updatedAt":2,"agents":{},"lastPrompt":"x","title":"t"}`

// Whatever the lines are, what is taken of them is bounded, valid text, no count is negative, and what was read before isn't changed.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(sampleLines))
	for line := range bytes.Lines([]byte(sampleLines)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fs facts
		for line := range bytes.Lines(data) {
			before := fs.Clone()
			was := fmt.Sprintf("%+v", before)
			next := before.Clone()
			if err := next.Line(line); err != nil && fs.known || max(len(next.asks), len(next.calls), len(next.background)) > maxOpen || len(next.SkippedRecords()) > 17 {
				t.Errorf("%v, %+v", err, next)
			}
			if now := fmt.Sprintf("%+v", before); now != was {
				t.Errorf("%s was %s", now, was)
			}
			fs = next
		}
		for _, s := range []string{fs.FirstPrompt, fs.LastPrompt, fs.Title, fs.model, fs.turn.why, fs.Doing, fs.cwd} {
			if len(s) > textLimit+256 || !utf8.ValidString(s) {
				t.Errorf("%d bytes: %.80q", len(s), s)
			}
		}
		if fs.turn.state != ended && fs.turn.outcome != "" || fs.turn.outcome == adapters.Died {
			t.Errorf("%+v", fs.turn)
		}
		if k := fs.ledger.Tokens(); min(k.Input, k.Output, k.CacheRead, k.CacheWrite) < 0 {
			t.Errorf("%+v", k)
		}
	})
}

// Any line can be peeked at.
func FuzzPeek(f *testing.F) {
	f.Add([]byte(sampleLines))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := kit.NewLastItems(&adapters.Session{}, 5)
		for line := range bytes.Lines(data) {
			p.Add(items(line, kit.Shown))
		}
		if len(p.Messages) > 5 {
			t.Errorf("%d messages", len(p.Messages))
		}
		for _, m := range p.Messages {
			if len(m.Text) > int(kit.Shown) || m.Role == "" || m.Key == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
