package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// launchable is an agent with permission modes.
type launchable struct{ *agent }

func (launchable) Program(func(string) (string, error)) (string, error) { return "/bin/true", nil }
func (launchable) Modes() []adapters.Mode {
	return []adapters.Mode{{Name: "ask", Says: "asks before each command"}, {Name: "all", Says: "never asks"}}
}
func (launchable) Command(string, adapters.Task) (adapters.Command, error) {
	return adapters.Command{}, nil
}

// offered returns what a shell is offered for the last of args, and the directive.
func offered(t *testing.T, d Deps, args ...string) (list []string, directive string) {
	t.Helper()
	r := run(t, d, append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != Done {
		t.Fatalf("%q: %+v", args, r)
	}
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	state, folder := filepath.Join(t.TempDir(), "state"), t.TempDir()
	l := launch.In(state, proc.Open())
	f := fuse.In(store.Below(state, store.Fuses))
	working := simple("aaaa-1", agentname.ClaudeCode, adapters.Working, 0)
	working.Title = "Fix\tthe \x1b[31mbuild"
	over := simple("aaaa-2", agentname.ClaudeCode, adapters.Stopped, time.Hour)
	d := deps(launchable{claude(working, over)}, &agent{name: agentname.Codex, hang: true})
	d.Launches = func() (*launch.Launches, error) { return l, nil }
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	if _, err := l.Locks().Take(t.Context(), lock.Lock{Path: folder, Kind: lock.Manual, By: "me"}, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Set(t.Context(), fuse.Fuse{Path: folder, Script: "true", Note: "cluster"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	record, _ := json.Marshal(launch.Record{ID: "l-0000000001", Agent: agentname.Codex, Dir: folder, Group: "g-1", Prompt: "do it", LaunchedAt: now})
	must.Do(t, os.MkdirAll(l.Folder(), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(l.Folder(), "l-0000000001.json"), record, 0o600))
	folder, _ = lock.RealPath(folder)
	const none, dirs, file = ":36", ":16", ":0"
	for _, c := range []struct {
		args      string
		want      []string
		directive string
	}{
		{"launch |", []string{"claude-code\tClaude Code", "codex\tCodex"}, none},
		{"launch claude-code |", []string{"codex\tCodex"}, none},
		{"launch claude-code --mode |", []string{"ask\tClaude Code: asks before each command", "all\tClaude Code: never asks"}, none},
		{"launch codex --mode |", nil, none},
		{"launch --cwd |", nil, dirs},
		{"launch --prompt-file |", nil, file},
		{"launch --matrix |", []string{"yaml", "yml"}, ":8"},
		{"launch -p |", nil, none},
		{"list --agent c|", []string{"claude-code\tClaude Code", "codex\tCodex"}, none},
		{"list --group |", []string{"g-1\tlaunches: 1"}, none},
		{"list --status wo|", []string{"working", "waiting", "needs you", "idle", "stopped", "unknown"}, none},
		{"list |", nil, ":4"},
		{"status aaaa|", []string{"aaaa-1\tworking, aaaa-1: Fix the build", "aaaa-2\tstopped, aaaa-2"}, none},
		{"stop |", []string{"aaaa-1\tworking, aaaa-1: Fix the build"}, none},
		{"stop aaaa-1 |", nil, none},
		{"logs |", []string{"l-0000000001\tCodex, " + present.Project(folder) + ": do it"}, none},
		{"hook retry l|", []string{"l-0000000001\tCodex, " + present.Project(folder) + ": do it"}, none},
		{"compare |", []string{"g-1\tlaunches: 1"}, none},
		{"lock |", nil, dirs},
		{"unlock |", []string{folder + "\tlocked by me"}, none},
		{"fuse cancel |", []string{folder + "\tcluster"}, none},
		{"--color n|", []string{"auto", "always", "never"}, none},
	} {
		args := strings.Fields(strings.TrimSuffix(c.args, "|"))
		if strings.HasSuffix(c.args, " |") {
			args = append(args, "")
		}
		got, directive := offered(t, d, args...)
		if d := cmp.Diff(append([]string{}, c.want...), append([]string{}, got...)); d != "" && !strings.HasPrefix(c.args, "unlock") || directive != c.directive {
			t.Errorf("%s: directive %s, want %s; (-want +got):\n%s", c.args, directive, c.directive, d)
		}
		if strings.HasPrefix(c.args, "unlock") && (len(got) != 1 || !strings.HasPrefix(got[0], folder+"\t")) {
			t.Errorf("%s: %q", c.args, got)
		}
	}
}

// TestEverythingHasCompletion: no command or flag offers the files of the current folder by mistake.
func TestEverythingHasCompletion(t *testing.T) {
	root := newRoot(newEnv(t.Context(), Streams{}, deps()))
	for _, cmd := range allCommands(root) {
		if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
			t.Errorf("%s has no completion of arguments", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && f.Value.Type() != "bool" {
				t.Errorf("%s --%s has no completion", cmd.CommandPath(), f.Name)
			}
		})
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := run(t, deps(), "completion", shell); r.code != Done || len(r.out) < 1000 || r.err != "" {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, r.code, len(r.out), r.err)
		}
	}
	for _, args := range [][]string{{"completion", "nope"}, {"completion", "bash", "x"}} {
		if r := run(t, deps(), args...); r.code != Usage {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
