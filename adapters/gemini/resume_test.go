package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// TestRefusedResume: a session that Gemini CLI refuses ("Invalid session identifier", TestGeminiRefusesToResume) says so, and no other does.
func TestRefusedResume(t *testing.T) {
	const (
		context = `{"id":"c","timestamp":"2026-11-25T14:30:22Z","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]}`
		prompt  = `{"id":"p","timestamp":"2026-11-25T14:30:24Z","type":"user","content":[{"text":"first"}]}`
		answer  = `{"id":"a","timestamp":"2026-11-25T14:30:25Z","type":"gemini","content":"Done.","model":"m"}`
		more    = `{"id":"q","timestamp":"2026-11-25T14:30:26Z","type":"user","content":[{"text":"more"}]}`
		failure = `{"id":"e","timestamp":"2026-11-25T14:30:27Z","type":"error","content":"[API Error]"}`
	)
	set := func(messages ...string) string { return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}` }
	cases := map[string]struct {
		refused  bool
		noHeader bool
		lines    []string
	}{
		"answered":                      {lines: []string{set(context), prompt, answer}},
		"killed before an answer":       {lines: []string{set(context), prompt}},
		"first prompt taken back":       {refused: true, lines: []string{set(context), prompt, set(context), failure}},
		"second prompt taken back":      {lines: []string{set(context), prompt, answer, more, set(context, prompt, answer), failure}},
		"taken back, and another":       {lines: []string{set(context), prompt, set(context), failure, more}},
		"back to before the first":      {refused: true, lines: []string{set(context), prompt, answer, `{"$rewindTo":"p"}`}},
		"back to the second":            {lines: []string{set(context), prompt, answer, more, `{"$rewindTo":"q"}`}},
		"only a call":                   {lines: []string{set(context), `{"id":"a","timestamp":"2026-11-25T14:30:25Z","type":"gemini","content":"","toolCalls":[{"id":"t"}]}`}},
		"file that has lost its header": {refused: true, noHeader: true, lines: []string{prompt, answer}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			const id = "d3000000-0000-4000-8000-000000000001"
			home := t.TempDir()
			dir := filepath.Join(home, ".gemini", "tmp", "app")
			must.Do(t, os.MkdirAll(filepath.Join(dir, "chats"), 0o700))
			lines := append([]string{`{"sessionId":"` + id + `","projectHash":"h","startTime":"2026-11-25T14:30:22Z","lastUpdated":"2026-11-25T14:30:22Z","kind":"main"}`}, c.lines...)
			if c.noHeader {
				lines = c.lines
			}
			logged := `[{"sessionId":"` + id + `","messageId":0,"type":"user","message":"first","timestamp":"2026-11-25T14:30:24Z"}]`
			must.Do(t, os.WriteFile(filepath.Join(dir, "logs.json"), []byte(logged), 0o600))
			must.Do(t, os.WriteFile(filepath.Join(dir, "chats", "session-2026-11-25T14-30-d3000000.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
			roll, err := New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: adaptertest.NewOwnTable(os.Getpid()), Now: time.Now}).
				Discover(t.Context(), adapters.Query{})
			must.Do(t, err)
			if len(roll.Sessions) != 1 || roll.Sessions[0].ID != id || c.refused != (roll.Sessions[0].NoResume != "") {
				t.Errorf("refused %v: %+v", c.refused, roll.Sessions)
			}
		})
	}
}
