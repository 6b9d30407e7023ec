package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// TestCompareTokens: the tokens of a group's members are written as everywhere else.
func TestCompareTokens(t *testing.T) {
	repo := oneCommit(t)
	worker := simple("one", agentname.ClaudeCode, adapters.Idle, time.Minute)
	worker.CWD = filepath.Join(filepath.Dir(repo), "app-try-g-00aa11-cc")
	worker.Tokens = &adapters.Tokens{Input: 1000, CacheRead: 234, CacheWrite: 1, Output: 5678}
	d := launchDeps(t, &writer{agentname.Codex}, &listing{writer{agentname.ClaudeCode}, claude(worker)})
	if r := run(t, d, "launch", "claude-code", "codex", "-p", "do it", "--cwd", repo, "--group", "g-00aa11"); r.code != Done {
		t.Fatalf("%+v", r)
	}
	if r := run(t, d, "compare", "g-00aa11", "--repo", repo); r.code != Done || !strings.Contains(r.out, "1,235 in, 5,678 out") {
		t.Errorf("%+v", r)
	}
}

// listing is a writer whose sessions are those of an agent.
type listing struct {
	writer
	*agent
}

func (l *listing) Name() adapters.Name { return l.writer.name }

func (l *listing) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return l.agent.Discover(ctx, q)
}
