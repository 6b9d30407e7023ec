package cline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// addFiles adds the files of the recordings whose path matches.
func addFiles(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob("testdata/recordings/*/home/.cline/data/sessions/*/" + pattern)
	if err != nil || len(files) == 0 {
		f.Fatal("no recordings", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(f, err)
		f.Add(text)
	}
	f.Add([]byte(strings.Repeat("[", 20_000)))
}

// FuzzManifest: nothing in a manifest breaks a rule of texts.
func FuzzManifest(f *testing.F) {
	addFiles(f, "*[0-9a-z].json")
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		checkTexts(t, m.id, m.status, m.title, m.prompt, m.cwd, m.branch, m.model)
		if m.pid < 0 || m.stated != nil && min(m.stated.Input, m.stated.Output, m.stated.CacheRead, m.stated.CacheWrite) < 0 {
			t.Errorf("%+v", m)
		}
	})
}

// FuzzConversation: nothing in a conversation breaks a rule of texts, and both readers of it cope.
func FuzzConversation(f *testing.F) {
	addFiles(f, "*.messages.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConversation(data)
		if err == nil {
			doing, _ := c.doing()
			checkTexts(t, c.firstPrompt, c.lastPrompt, c.model, c.last.text, doing)
			if len(doing) > adapters.MaxDoing {
				t.Errorf("doing has %d bytes", len(doing))
			}
			sum := c.ledger.Tokens()
			if min(sum.Input, sum.Output, sum.CacheRead, sum.CacheWrite) < 0 {
				t.Errorf("%+v", sum)
			}
		}
		messages, _ := (&chat{}).read(data)
		for _, m := range messages {
			if len(m.Text) > adapters.MaxText || m.Key == "" || (m.Role == adapters.FromTool) != (m.State != "") {
				t.Errorf("%+v", m)
			}
		}
	})
}

func checkTexts(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if len(text) > textLimit || !utf8.ValidString(text) {
			t.Errorf("a text of %d bytes: %.60q", len(text), text)
		}
	}
}
