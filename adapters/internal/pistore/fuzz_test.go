package pistore

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

const sampleLines = `{"type":"session","version":3,"id":"01a1fc75-ea10-75c2-825d-8b96aeeb0ed1","timestamp":"2026-11-21T04:55:48.497Z","cwd":"/home/dev/proj1","parentSession":"/x.jsonl"}
{"type":"model_change","id":"37fd681a","parentId":null,"timestamp":"2026-11-21T04:55:48.669Z","provider":"mock","modelId":"mock-1"}
{"type":"message","id":"1c74681c","parentId":"37fd681a","timestamp":"2026-11-21T04:55:48.681Z","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"timestamp":1795236948678}}
{"type":"message","id":"a7e83911","parentId":"1c74681c","timestamp":"2026-11-21T04:56:00.824Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}],"provider":"mock","model":"mock-1","usage":{"input":220,"output":34,"cacheRead":1000,"cacheWrite":0,"reasoning":0,"totalTokens":1254,"cost":{"total":0.00147}},"stopReason":"toolUse","errorMessage":"e"}}
{"type":"context_edit","id":"a3908f6c","parentId":"a7e83911","timestamp":"2026-11-21T04:56:01Z","targetId":"a7e83911","replacement":null}
{"type":"session_info","id":"917bb4c3","parentId":"a3908f6c","timestamp":"2026-11-21T04:59:42.168Z","name":" n "}
{"type":"usage","id":"1","parentId":"2","timestamp":"x","usage":{"input":-5,"output":1e300}}`

// Whatever the lines are, what is taken of them is bounded, valid text, counts
// don't run backwards, and what was read before isn't changed.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(sampleLines))
	for line := range strings.Lines(sampleLines) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fs := facts{}
		for line := range bytes.Lines(data) {
			before := fs
			r, err := parse(line)
			if err != nil {
				continue
			}
			fs.apply(&r)
			if len(before.SkippedRecords()) > 9 || len(fs.SkippedRecords()) > 9 {
				t.Errorf("%d kinds skipped", len(fs.SkippedRecords()))
			}
			for _, s := range []string{fs.id, fs.cwd, fs.FirstPrompt, fs.LastPrompt, fs.Title, fs.model, fs.turn.why, fs.turn.tool} {
				if len(s) > textLimit+256 || !utf8.ValidString(s) {
					t.Errorf("%d bytes: %.80q", len(s), s)
				}
			}
			if fs.turn.outcome == adapters.Died || fs.turn.calls < 0 {
				t.Errorf("%+v", fs.turn)
			}
			if fs.turn.state == open && fs.turn.outcome != "" {
				t.Errorf("open, and %s", fs.turn.outcome)
			}
		}
		_, _ = sequence(fs.id)
	})
}

// Any line can be peeked at.
func FuzzPeek(f *testing.F) {
	f.Add([]byte(sampleLines))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &peek{LastItems: kit.NewLastItems(&adapters.Session{}, 5)}
		for line := range bytes.Lines(data) {
			p.line(line)
		}
		if len(p.Messages) > 5 {
			t.Errorf("%d messages", len(p.Messages))
		}
		for _, m := range p.Messages {
			if len(m.Text) > adapters.MaxText || m.Role == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
