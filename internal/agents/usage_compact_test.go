//go:build agents && linux

package agents

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
)

// A conversation that is compacted and goes on is counted as the model server has answered it: with the summary, if the agent stores what that used.
func TestUsageCompacted(t *testing.T) {
	nightly(t)
	t.Run("claude-code", func(t *testing.T) {
		each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
			id := uuid(t)
			for _, args := range [][]string{{"--session-id", id, "one [[usage 100 11]]"}, {"--resume", id, "two [[usage 100 13]]"},
				{"--resume", id, "/compact"}, {"--resume", id, "three [[usage 100 17]]"}} {
				if out, err := s.run(r, append([]string{"-p"}, args...)...).CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
			}
			countsAll(s, r, func(q modelserver.Request) bool { // Claude Code stores nothing of what the summary used
				return strings.Contains(q.Prompt, "[[usage")
			})
			if !slices.ContainsFunc(s.Server.Requests(), func(q modelserver.Request) bool {
				return strings.Contains(q.Prompt, "detailed summary of the conversation")
			}) {
				t.Error("no summary was asked for")
			}
		})
	})
	t.Run("codex", func(t *testing.T) {
		each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
			terminal := openCodex(s, r)
			compactInTerminal(terminal, r, "ontext compacted")
		})
	})
	t.Run("opencode", func(t *testing.T) {
		each(t, []Release{OpenCodeNewest}, func(t *testing.T, s *Sandbox, r Release) {
			terminal, _ := openOpenCode(s, r)
			compactInTerminal(terminal, r, "▣  Compaction")
		})
	})
	t.Run("pi", func(t *testing.T) {
		each(t, []Release{PiNewest}, func(t *testing.T, s *Sandbox, r Release) {
			err := writeJSON(filepath.Join(s.Home, ".pi", "agent", "settings.json"), map[string]any{ // it compacts what is older than so many tokens
				"defaultProvider": mockProvider, "defaultModel": mockModel, "compaction": map[string]any{"enabled": true, "reserveTokens": 1000, "keepRecentTokens": 1}})
			must.Do(t, err)
			terminal, _ := openPi(s, r)
			compactInTerminal(terminal, r, "ompacted")
		})
	})
}

// compactInTerminal has a conversation of two turns compacted, which the terminal then shows as done, and goes on. Usage counts all answers, also that with the
// summary, but not that with the title of the first turn: no agent stores what a title used.
func compactInTerminal(terminal *Terminal, r Release, done string) {
	s := terminal.s
	s.t.Helper()
	for _, prompt := range []string{"one [[usage 100 11]]", "two [[usage 100 13]]"} {
		terminal.PromptUntil(prompt, "Mock answer to: "+prompt[:3])
	}
	countsAll(s, r, func(q modelserver.Request) bool { return !q.Side })
	before := time.Now()
	summary := func(q modelserver.Request) bool { return q.Side && q.At.After(before) }
	terminal.Enter("/compact")
	if err := poll(60*time.Second, func() bool {
		return slices.ContainsFunc(s.Server.Requests(), func(q modelserver.Request) bool { return summary(q) && q.Status == http.StatusOK })
	}); err != nil {
		s.t.Fatalf("no summary was asked for %v", err)
	}
	terminal.Shows(done)
	terminal.PromptUntil("three [[usage 100 17]]", "Mock answer to: three")
	countsAll(s, r, func(q modelserver.Request) bool { return !q.Side || summary(q) })
}

// countsAll waits until usage counts what all answers state that count.
func countsAll(s *Sandbox, r Release, count func(modelserver.Request) bool) {
	s.t.Helper()
	want := int64(0)
	for _, q := range s.Server.Requests() {
		if q.Status == http.StatusOK && count(q) {
			want += int64(q.Output)
		}
	}
	var got int64
	var said []byte
	if poll(10*time.Second, func() bool { got, said = countedOutput(s, r); return got == want }) != nil {
		s.t.Errorf("usage counts an output of %d, the model server answered %d\n%s", got, want, said)
	}
}
