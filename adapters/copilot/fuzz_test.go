package copilot

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

// seeds adds the files of recordings, and each of their lines.
func seeds(f *testing.F) {
	paths, _ := filepath.Glob("testdata/recordings/*/home/.copilot/session-state/*/events.jsonl")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must.Do(f, err)
		f.Add(data)
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
}

// Whatever the lines are, what is taken of them is bounded, valid text, and what was read before is not changed.
func FuzzFacts(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var fs facts
		for line := range bytes.Lines(data) {
			before := fs
			calls, asked := len(before.turn.calls), len(before.turn.asked)
			fs = fs.Clone()
			if err := fs.Line(bytes.TrimSpace(line)); err != nil {
				t.Error(err)
			}
			if len(before.turn.calls) != calls || len(before.turn.asked) != asked || len(fs.turn.calls) > maxOpen || len(fs.turn.asked) > maxOpen {
				t.Errorf("%d calls, %d requests", len(fs.turn.calls), len(fs.turn.asked))
			}
		}
		for _, s := range []string{fs.id, fs.cwd, fs.branch, fs.model, fs.version, fs.firstPrompt, fs.lastPrompt, fs.turn.why, fs.reply} {
			if len(s) > textLimit || !utf8.ValidString(s) {
				t.Errorf("%d bytes: %.80q", len(s), s)
			}
		}
		if doing, _ := fs.doing(); len(doing) > adapters.MaxDoing {
			t.Errorf("doing %d bytes", len(doing))
		}
		if fs.turn.open && fs.turn.outcome != "" || len(fs.SkippedRecords()) > 20 {
			t.Errorf("%+v, skipped %v", fs.turn, fs.SkippedRecords())
		}
		if n := fs.tokens(); n != nil && min(n.Input, n.Output, n.CacheRead, n.CacheWrite) < 0 {
			t.Errorf("%+v", n)
		}
	})
}

// Any line can be peeked at.
func FuzzPeek(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := kit.NewLastItems(&adapters.Session{}, 5)
		for line := range bytes.Lines(data) {
			p.Add(items(line, kit.Shown))
			items(line, kit.Whole)
		}
		for _, m := range p.Messages {
			if len(m.Text) > adapters.MaxText || m.Role == "" || m.Key == "" || (m.Role == adapters.FromTool) != (m.Tool != "") {
				t.Errorf("%+v", m)
			}
		}
	})
}
