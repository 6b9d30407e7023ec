package told

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestKeep: what was told last of a home counts; the same is not written again within a minute; other homes and agents keep theirs.
func TestKeep(t *testing.T) {
	state := t.TempDir()
	l := In(state)
	now := time.Now().Truncate(time.Second)
	limit := func(home string, used float64, at time.Time) []adapters.Limit {
		return []adapters.Limit{{Home: home, Window: 5 * time.Hour, Used: used, ResetsAt: now.Add(time.Hour), At: at}}
	}
	must.Do(t, l.Keep(agentname.ClaudeCode, limit("/a", 10, now)))
	must.Do(t, l.Keep(agentname.ClaudeCode, limit("/b", 20, now)))
	must.Do(t, l.Keep(agentname.Codex, limit("/a", 30, now)))
	must.Do(t, l.Keep(agentname.ClaudeCode, limit("/a", 10, now.Add(again/2)))) // the same
	must.Do(t, l.Keep(agentname.ClaudeCode, nil))
	got := map[string]adapters.Limit{}
	for _, x := range In(state).Of(agentname.ClaudeCode) {
		got[x.Home] = x
	}
	if len(got) != 2 || got["/a"].Used != 10 || !got["/a"].At.Equal(now) || !got["/a"].ResetsAt.Equal(now.Add(time.Hour)) || got["/b"].Used != 20 {
		t.Errorf("%+v", got)
	}
	must.Do(t, l.Keep(agentname.ClaudeCode, limit("/a", 11, now)))
	must.Do(t, l.Keep(agentname.ClaudeCode, limit("/b", 20, now.Add(again))))
	for _, x := range l.Of(agentname.ClaudeCode) {
		if x.Home == "/a" && x.Used != 11 || x.Home == "/b" && !x.At.Equal(now.Add(again)) {
			t.Errorf("%+v", x)
		}
	}
}

// TestKeepInNoFolder: what can't be kept is said, with its place.
func TestKeepInNoFolder(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	must.Do(t, os.WriteFile(state, nil, 0o600))
	err := In(state).Keep(agentname.ClaudeCode, []adapters.Limit{{Home: "/a", Used: 1}})
	if err == nil {
		t.Error("no error")
	}
	if got := In(state).Of(agentname.ClaudeCode); got != nil {
		t.Errorf("%v", got)
	}
}
