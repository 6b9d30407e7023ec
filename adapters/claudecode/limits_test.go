package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// Transcripts of `claude -p` against a server that refuses as that of subscriptions does.
const (
	refused332 = "c0a6def2-28af-4aba-9736-bda45fb22db2.jsonl" // 2.1.332
	refused100 = "cdff2cde-7352-4683-850e-1569ca656d05.jsonl" // 2.1.100
)

func limitsOfHome(t *testing.T, transcripts map[string]string) []adapters.Limit {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "projects", "-home-dev-proj")
	must.Do(t, os.MkdirAll(project, 0o700))
	for name, text := range transcripts {
		must.Do(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o600))
	}
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }, Table: proc.Open(), Now: func() time.Time { return time.Date(2026, 11, 25, 23, 30, 0, 0, time.UTC) },
		Homes: func() []string { return []string{home} }})
	found, err := a.Limits(t.Context())
	must.Do(t, err)
	for _, l := range found {
		if l.Home != home {
			t.Errorf("home %q", l.Home)
		}
	}
	return found
}

func recordedLimit(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "limits", name))
	must.Do(t, err)
	return string(text)
}

func TestLimits(t *testing.T) {
	for name, window := range map[string]time.Duration{refused332: 5 * time.Hour, refused100: 0} {
		found := limitsOfHome(t, map[string]string{name: recordedLimit(t, name)})
		if len(found) != 1 || found[0].Used != 100 || found[0].Window != window || found[0].ResetsAt.UTC().Truncate(time.Minute) != time.Date(2026, 11, 26, 1, 26, 0, 0, time.UTC) || found[0].At.IsZero() {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// An answer after the limit shows that it no longer holds, also in another session; one before does not.
func TestLimitNoLongerInForce(t *testing.T) {
	answer := func(at, model string) string {
		return `{"type":"assistant","timestamp":"` + at + `","message":{"id":"m","model":"` + model + `","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}}` + "\n"
	}
	const other = "11111111-1111-4111-8111-111111111111.jsonl"
	refused := recordedLimit(t, refused332)
	opus := strings.ReplaceAll(refused, "five_hour", "seven_day_opus")
	for name, c := range map[string]struct {
		refused, other string
		left           int
	}{
		"before":        {refused, answer("2026-11-25T23:00:00Z", "claude-sonnet-5"), 1},
		"after":         {refused, answer("2026-11-25T23:28:00Z", "claude-sonnet-5"), 0},
		"after, here":   {refused + answer("2026-11-25T23:28:00Z", "claude-sonnet-5"), "", 0},
		"another model": {opus, answer("2026-11-25T23:28:00Z", "claude-sonnet-5"), 1},
		"its model":     {opus, answer("2026-11-25T23:28:00Z", "claude-opus-5"), 0},
	} {
		if found := limitsOfHome(t, map[string]string{refused332: c.refused, other: c.other}); len(found) != c.left {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
