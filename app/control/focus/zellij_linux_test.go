package focus_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rollcall/app/control/focus"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestZellij: a process below the server of the session that it names is attached to; one that only has the name, or a name that looks like an option, is not.
func TestZellij(t *testing.T) {
	table := proc.Open()
	finder := focus.New(table, nil)
	for name, c := range map[string]struct {
		argv0, session, socket string
		want                   []string
	}{
		"in a session":      {"zellij", "my-work", "/run/user/1000/zellij/0.44.1/my-work", []string{"zellij", "attach", "my-work"}},
		"another session":   {"zellij", "my-work", "/run/user/1000/zellij/0.44.1/other", nil},
		"another program":   {"emacs", "my-work", "/run/user/1000/zellij/0.44.1/my-work", nil},
		"an option as name": {"zellij", "-c", "/run/user/1000/zellij/0.44.1/-c", nil},
	} {
		cmd := exec.Command("bash", "-c", `exec -a "$0" bash -c 'sleep 1000; :' --server "$1"`, c.argv0, c.socket)
		cmd.Env = append(cmd.Environ(), "ZELLIJ_SESSION_NAME="+c.session, "TMUX=", "STY=")
		must.Do(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		var agent proc.Process
		eventually.True(t, "the agent", func() bool {
			list := must.Get(table.List(t.Context()))(t)
			i := slices.IndexFunc(list, func(p proc.Process) bool { return p.PPID == cmd.Process.Pid && p.Comm == "sleep" })
			if i >= 0 {
				agent = list[i]
			}
			return i >= 0
		})
		t.Cleanup(func() {
			if h, err := table.Hold(agent.Identity); err == nil {
				_ = h.Send(proc.Kill)
				h.Close()
			}
		})
		plan := must.Get(finder.Plan(t.Context(), nil, agent.Identity, ""))(t)
		if !slices.Equal(plan.Attach, c.want) || (c.want != nil) != strings.Contains(plan.Note, "zellij") {
			t.Errorf("%s: %q, %q", name, plan.Attach, plan.Note)
		}
	}
}
