package cli

import (
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// wrapped is a shellAgent behind a wrapper that ends at once.
type wrapped struct{ shellAgent }

func (a *wrapped) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Stdin: t.Prompt + "\n", Args: []string{"-c",
		`read prompt; (echo "$prompt" | sh -c "$0" sh "$1") & exit 0`, "sleep 0.3; " + shellProgram, a.store}}, nil
}

// TestLaunchBehindWrapper: the end of a wrapper is not the end of the agent, and the launch goes on.
func TestLaunchBehindWrapper(t *testing.T) {
	a := &wrapped{shellAgent{t.TempDir()}}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	r := run(t, d, "launch", "codex", "-p", "do it", "--cwd", t.TempDir())
	if r.code != Done || strings.Contains(r.out, "done already") || !strings.Contains(r.out, "session sh-1") {
		t.Errorf("%+v", r)
	}
	l := must.Get(d.Launches())(t)
	if list, err := l.List(); err != nil || len(list) != 1 || list[0].Ended() {
		t.Errorf("records %+v, %v", list, err)
	}
}
