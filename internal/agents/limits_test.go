//go:build agents && linux

package agents

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"rollcall/internal/must"
)

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
	var doc struct {
		Limits []struct {
			Agent, Home string
			Window      int64     `json:"window_seconds"`
			Used        float64   `json:"used_percent"`
			Resets      time.Time `json:"resets_at"`
			At          time.Time `json:"recorded_at"`
		}
	}
	said := l.Rollcall("usage", "--limits", "--json")
	must.Do(t, json.Unmarshal([]byte(said.Out), &doc))
	used := map[int64]float64{}
	for _, limit := range doc.Limits {
		if limit.Home != home || !limit.Resets.After(time.Now()) || time.Since(limit.At) > time.Hour {
			t.Errorf("%+v", limit)
		}
		used[limit.Window] = limit.Used
	}
	if len(used) != 2 || used[5*3600] != 93 || used[7*24*3600] != 17 {
		t.Errorf("%v", used)
	}
}
