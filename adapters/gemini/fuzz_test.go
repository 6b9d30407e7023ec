package gemini

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

const sampleLines = `{"sessionId":"40de","projectHash":"bb97","startTime":"2026-11-25T13:47:11.392Z","lastUpdated":"2026-11-25T13:47:11.392Z","kind":"main","directories":["/p"]}
{"$set":{"messages":[{"id":"d0","timestamp":"2026-11-25T13:47:11.392Z","type":"user","content":[{"text":"<session_context>\nx"}]}],"lastUpdated":"2026-11-25T13:47:11.392Z"}}
{"id":"c7","timestamp":"2026-11-25T13:47:15.166Z","type":"user","content":[{"text":"hello"}],"displayContent":"hi"}
{"id":"0b","timestamp":"2026-11-25T13:47:15.415Z","type":"gemini","content":"","tokens":{"input":1210,"output":34,"cached":1000,"thoughts":5,"tool":0,"total":1249},"model":"g","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"ls"},"result":[{"functionResponse":{"response":{"output":"x"}}}],"status":"success","timestamp":"2026-11-25T13:47:16Z"}]}
{"id":"0c","timestamp":"2026-11-25T13:47:17Z","type":"user","content":[{"functionResponse":{"id":"t"}}]}
{"id":"0d","timestamp":"2026-11-25T13:47:18Z","type":"info","content":"Request cancelled."}
{"id":"0e","timestamp":"2026-11-25T13:47:18Z","type":"gemini","content":[{"text":"again"}],"tokens":null}
{"$set":{"sessionId":"40de","summary":"title"}}
{"$rewindTo":"c7"}
{"id":"0f","timestamp":"x","type":"error","content":"[API Error]","tokens":{"input":-5,"output":1e300,"cached":7}}`

// Whatever the lines are, what is taken of them is bounded, valid text, no count is negative, and what was read before isn't changed.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(sampleLines))
	for line := range strings.Lines(sampleLines) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"sessionId":"a","startTime":"2026-11-25T13:47:11Z","messages":[{"id":"1","type":"user","content":"hi"}],"summary":"s"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var fs facts
		_ = fs.Line(data) // as a file that is one object
		for line := range bytes.Lines(data) {
			before := fs.Clone()
			was := fmt.Sprintf("%+v", before)
			next := before.Clone()
			if err := next.Line(line); err != nil && fs.known || len(next.opened) > maxOpened || len(next.SkippedRecords()) > 17 {
				t.Errorf("%v, %+v", err, next)
			}
			if now := fmt.Sprintf("%+v", before); now != was {
				t.Errorf("%s was %s", now, was)
			}
			fs = next
		}
		for _, s := range []string{fs.id, fs.FirstPrompt, fs.LastPrompt, fs.Title, fs.model, fs.turn.why, fs.Doing} {
			if len(s) > textLimit+256 || !utf8.ValidString(s) {
				t.Errorf("%d bytes: %.80q", len(s), s)
			}
		}
		if fs.turn.state != ended && fs.turn.outcome != "" || fs.turn.outcome == adapters.Died {
			t.Errorf("%+v", fs.turn)
		}
		if k := fs.ledger.Tokens(); min(k.Input, k.Output, k.CacheRead, k.Reasoning) < 0 {
			t.Errorf("%+v", k)
		}
	})
}

// Any line can be peeked at.
func FuzzPeek(f *testing.F) {
	f.Add([]byte(sampleLines))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &peek{LastItems: kit.NewLastItems(&adapters.Session{}, 5), seen: map[string]bool{}}
		for line := range bytes.Lines(data) {
			p.line(line)
		}
		p.take()
		if len(p.Messages) > 5 {
			t.Errorf("%d messages", len(p.Messages))
		}
		for _, m := range p.Messages {
			if len(m.Text) > adapters.MaxText || m.Role == "" || m.Key == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
