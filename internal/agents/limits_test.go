//go:build agents && linux

package agents

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"rollcall/internal/must"
)

// usedOf returns the used shares of a home in what usage printed, by the seconds of their windows.
func usedOf(t *testing.T, said []byte, home string) map[int64]float64 {
	t.Helper()
	var doc struct {
		Limits []struct {
			Agent, Home string
			Window      int64     `json:"window_seconds"`
			Used        float64   `json:"used_percent"`
			Resets      time.Time `json:"resets_at"`
			At          time.Time `json:"recorded_at"`
		}
	}
	must.Do(t, json.Unmarshal(said, &doc))
	used := map[int64]float64{}
	for _, limit := range doc.Limits {
		if limit.Home != home || !limit.Resets.After(time.Now()) || time.Since(limit.At) > time.Hour {
			t.Errorf("%+v", limit)
		}
		used[limit.Window] = limit.Used
	}
	return used
}

// TestClaudePrintedLimits: the limits of a subscription that a background launch prints are shown for the home that it uses. The token of the
// subscription is made up.
func TestClaudePrintedLimits(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), ClaudeNewest)
	home := filepath.Join(l.Home, ".claude")
	if err := writeJSON(filepath.Join(home, "settings.json"), map[string]any{"env": map[string]string{
		"ANTHROPIC_BASE_URL": l.Server.URL(), "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-made-up"}}); err != nil {
		t.Fatal(err)
	}
	l.Launch("count [[limits 93 17]]", "--wait")
	used := usedOf(t, []byte(l.Rollcall("usage", "--limits", "--json").Out), home)
	if len(used) != 2 || used[5*3600] != 93 || used[7*24*3600] != 17 {
		t.Errorf("%v", used)
	}
}

// TestClaudeStatusLine: as the status line of an interactive session, Rollcall shows the limits that Claude Code tells it on the agent's own screen, and
// usage has them. The token of the subscription is made up.
func TestClaudeStatusLine(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	s := NewSandbox(t)
	home := filepath.Join(s.Home, ".claude")
	must.Do(t, writeJSON(filepath.Join(home, "settings.json"), map[string]any{
		"env":        map[string]string{"ANTHROPIC_BASE_URL": s.Server.URL(), "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-made-up"},
		"statusLine": map[string]string{"type": "command", "command": headlessBinary + " statusline"}}))
	terminal := s.OpenInTmux("env", "-u", "ANTHROPIC_API_KEY", "-u", "ANTHROPIC_BASE_URL", s.Program(ClaudeNewest), "--permission-mode", "default")
	terminal.Shows(" · " + filepath.Base(s.Project))
	terminal.PromptUntil("count [[limits 93 17]]", "5 h 93 %", "week 17 %")
	said := must.Get(s.Command(headlessBinary, "usage", "--limits", "--json").Output())(t)
	used := usedOf(t, said, home)
	if len(used) != 2 || used[5*3600] != 93 || used[7*24*3600] != 17 {
		t.Errorf("%v", used)
	}
}
