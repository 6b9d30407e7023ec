package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/launch"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// talker is an agent that prints what its folder says, and ends when a file named end is there.
type talker struct{ shellAgent }

const talkProgram = `read prompt; printf 'first \033[31mred\033[0m\n  second\n'
until [ -e "$1/end" -o ! -d "$1" ]; do sleep 0.02; done; printf 'last \033]0;title\007line'`

func (a *talker) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"-c", talkProgram, "sh", a.store}, Stdin: t.Prompt + "\n"}, nil
}

func TestLogs(t *testing.T) {
	a := &talker{shellAgent{t.TempDir()}}
	t.Cleanup(a.end)
	other := simple("other-session", agentname.ClaudeCode, adapters.Working, 0)
	d := launchDeps(t, a, claude(other))
	r := run(t, d, "launch", "codex", "-p", "x", "--cwd", t.TempDir())
	started := regexp.MustCompile(`started (l-[0-9a-f]+), process`).FindStringSubmatch(r.out)
	if started == nil {
		t.Fatalf("%+v", r)
	}
	id := started[1]
	const raw, clean = "first \x1b[31mred\x1b[0m\n  second\n", "first red\n  second\n"
	eventually.True(t, "the first lines", func() bool { return run(t, d, "logs", id).out == clean })
	for _, c := range []struct {
		width int
		args  []string
		code  int
		want  string
	}{
		{0, []string{"logs", id[:6]}, Done, clean},
		{0, []string{"logs", id, "--raw"}, Done, raw},
		{80, []string{"logs", id}, Done, clean},
		{80, []string{"logs", id, "--raw"}, Done, raw},
		{0, []string{"logs", "other"}, Failure, "session other-session was not launched by Rollcall, so it has no log; use rollcall peek other-se"},
		{0, []string{"logs", "nope"}, NoSession, `no launch or session has the id "nope"`},
		{0, []string{"logs"}, Usage, "takes one id of a launch or session"},
	} {
		r := runOn(t.Context(), t, Streams{Width: c.width}, d, c.args...)
		if r.code != c.code || c.code == Done && r.out != c.want || c.code != Done && !strings.Contains(r.err, c.want) {
			t.Errorf("%q: %+v, want %d %q", c.args, r, c.code, c.want)
		}
	}

	// Nothing but the command itself notices the end.
	followed := &eventually.Output{}
	code := make(chan int)
	go func() {
		code <- Execute(t.Context(), []string{"logs", id, "-f"}, Streams{Out: followed, Err: io.Discard, Width: 80}, d)
	}()
	eventually.True(t, "the first lines", func() bool { return followed.String() == clean })
	a.end()
	select {
	case got := <-code:
		if want := clean + "last line\n"; got != Done || followed.String() != want {
			t.Errorf("followed: exit code %d, %q; want %q", got, followed.String(), want)
		}
	case <-time.After(time.Minute):
		t.Fatal("the launch is followed after its end")
	}

	l, _ := d.Launches()
	must.Do(t, os.Remove(filepath.Join(filepath.Dir(l.Folder()), "logs", id+".log")))
	if r := run(t, d, "logs", id); r.code != Failure || !strings.Contains(r.err, "cannot read the log of launch "+id+": ") {
		t.Errorf("%+v", r)
	}
}

// TestLogsInterrupted: a launch that goes on is followed until the user ends it.
func TestLogsInterrupted(t *testing.T) {
	a := &talker{shellAgent{t.TempDir()}}
	t.Cleanup(a.end)
	d := launchDeps(t, a)
	if r := run(t, d, "launch", "codex", "-p", "x", "--cwd", t.TempDir()); r.code != Done {
		t.Fatalf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	followed := &eventually.Output{}
	code := make(chan int)
	go func() {
		code <- Execute(ctx, []string{"logs", "l-", "--follow"}, Streams{Out: followed, Err: io.Discard}, d)
	}()
	eventually.True(t, "the first line", func() bool { return strings.Contains(followed.String(), "second") })
	cancel()
	if got := <-code; got != Interrupted {
		t.Errorf("exit code %d", got)
	}
}

// TestHookRetryTakesABeginning: the id of a launch may be cut, as its help says, and one that no launch has is named.
func TestHookRetryTakesABeginning(t *testing.T) {
	l := launch.In(filepath.Join(t.TempDir(), "state"), proc.Open())
	d := deps(claude())
	d.Launches = func() (*launch.Launches, error) { return l, nil }
	must.Do(t, os.MkdirAll(l.Folder(), 0o700))
	for _, id := range []string{"l-0000000001", "l-0002"} {
		record, _ := json.Marshal(launch.Record{ID: id, Agent: agentname.Codex, Dir: "/work", LaunchedAt: now})
		must.Do(t, os.WriteFile(filepath.Join(l.Folder(), id+".json"), record, 0o600))
	}
	for _, c := range []struct {
		id, want string
		code     int
	}{
		{"l-0000000001", "launch l-0000000001: none of its hooks was interrupted", Failure},
		{"l-0000", "launch l-0000000001: none of its hooks was interrupted", Failure},
		{"l-0002", "launch l-0002: none of its hooks was interrupted", Failure},
		{"l-00", `"l-00" fits 2 launches:`, Usage},
		{"nope", `no launch has the id "nope"`, Failure},
	} {
		if r := run(t, d, "hook", "retry", c.id); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %+v, want %d %q", c.id, r, c.code, c.want)
		}
	}
}
