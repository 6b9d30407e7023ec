package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
)

// speaker is a shellAgent whose conversation is a file, each line a message.
type speaker struct {
	shellAgent
	asked chan struct{}
	once  sync.Once
}

func (a *speaker) Peek(_ context.Context, _ adapters.Session, n int) (out []adapters.Message, err error) {
	old := adapters.Message{Key: "old", Role: adapters.FromUser, Text: "long ago", At: time.Now().Add(-time.Hour)}
	text, err := os.ReadFile(filepath.Join(a.store, "talk"))
	if os.IsNotExist(err) {
		err = nil
	}
	out = []adapters.Message{old}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line != "" {
			out = append(out, adapters.Message{Key: string(rune('a' + i)), Role: adapters.FromAgent, Text: line, At: time.Now()})
		}
	}
	defer a.once.Do(func() { close(a.asked) })
	return out[max(len(out)-n, 0):], err
}

// TestLaunchFollow: launch --follow shows what is said from the launch on, the last words too, and ends as --wait does.
func TestLaunchFollow(t *testing.T) {
	a := &speaker{shellAgent: shellAgent{t.TempDir()}, asked: make(chan struct{})}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	say := func(text string) {
		if err := os.WriteFile(filepath.Join(a.store, "talk"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	say("first words\n")
	go func() {
		<-a.asked
		say("first words\nlast words\n")
		a.end()
	}()
	r := run(t, d, "launch", "codex", "-p", "do it", "--cwd", t.TempDir(), "--follow")
	if r.code != Done || strings.Contains(r.out, "long ago") || strings.Count(r.out, "first words") != 1 || strings.Count(r.out, "last words") != 1 ||
		!strings.Contains(r.out, "ended with exit code 0") || strings.Index(r.out, "last words") > strings.Index(r.out, "ended with") {
		t.Errorf("%+v", r)
	}
	r = run(t, d, "launch", "codex", "-p", "fail", "--cwd", t.TempDir(), "--follow")
	if r.code != AgentFailed || !strings.Contains(r.out, "no such model") || !strings.Contains(r.err, "exit code 3") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--terminal"}, {"pi"}, {"--worktree"}} {
		if r := run(t, d, append([]string{"launch", "codex", "-p", "x", "--cwd", t.TempDir(), "--follow"}, args...)...); r.code != Usage || !strings.Contains(r.err, "--follow") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
