package grok

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// seeds adds the files of recordings with a name, and each of their lines.
func seeds(f *testing.F, name string) {
	paths, _ := filepath.Glob("testdata/recordings/*/home/.grok/sessions/*/*/" + name)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must.Do(f, err)
		f.Add(data)
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
}

// Whatever the events are, what is taken of them is bounded, and what was read before is not changed.
func FuzzEvents(f *testing.F) {
	seeds(f, "events.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		var e events
		for line := range bytes.Lines(data) {
			before := e
			asked, tools := len(before.turn.asked), len(before.turn.tools)
			e = e.Clone()
			if err := e.Line(bytes.TrimSpace(line)); err != nil {
				t.Error(err)
			}
			if len(before.turn.asked) != asked || len(before.turn.tools) != tools || len(e.turn.asked) > maxOpen || len(e.turn.tools) > maxOpen {
				t.Errorf("%d requests, %d tools", len(e.turn.asked), len(e.turn.tools))
			}
		}
		if e.turn.open && e.turn.outcome != "" || len(e.SkippedRecords()) > 20 || len(e.model) > kit.ShortText {
			t.Errorf("%+v, skipped %v", e.turn, e.SkippedRecords())
		}
	})
}

// The same for the updates, of which any can be peeked at.
func FuzzUpdates(f *testing.F) {
	seeds(f, "updates.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		var u updates
		p := kit.NewLastItems(&adapters.Session{}, 5)
		for line := range bytes.Lines(data) {
			u = u.Clone()
			if err := u.Line(bytes.TrimSpace(line)); err != nil {
				t.Error(err)
			}
			p.Add(items(line, kit.Shown))
			if r, err := parseUpdate(line); err == nil {
				_, _ = message(&r, kit.Whole)
			}
		}
		for _, s := range []string{u.firstPrompt, u.lastPrompt, u.call.text, u.reply.text, u.retry} {
			if len(s) > kit.ShortText || !utf8.ValidString(s) {
				t.Errorf("%d bytes: %.80q", len(s), s)
			}
		}
		if doing, _ := u.doing(); len(doing) > adapters.MaxDoing {
			t.Errorf("doing %d bytes", len(doing))
		}
		if n := u.ledger.Tokens(); min(n.Input, n.Output, n.CacheRead, n.CacheWrite) < 0 {
			t.Errorf("%+v", n)
		}
		for _, m := range p.Messages {
			if len(m.Text) > adapters.MaxText || m.Role == "" || m.Key == "" || (m.Role == adapters.FromTool) != (m.Tool != "") {
				t.Errorf("%+v", m)
			}
		}
	})
}
