package opencode

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// ownedBy starts a process and reports whether the adapter owns it.
func ownedBy(t *testing.T, w *scene.Environment, a *Adapter, spec scene.Spec) (proc.Identity, bool) {
	t.Helper()
	id := w.Procs.Start(spec)
	p, err := w.Table.Find(id.PID)
	must.Do(t, err)
	return id, a.OwnsProcess(p)
}

// The agent's own processes are owned, what starts it and what it starts are not.
func TestOwnsProcess(t *testing.T) {
	w := scene.New(t)
	now := time.Now()
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return now }})
	spec := func(comm string, args ...string) scene.Spec {
		return scene.Spec{Comm: comm, Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: args, Env: []string{"HOME=" + w.Home},
			Started: now.Add(-time.Minute)}
	}
	terminal, owned := ownedBy(t, w, a, spec("opencode", "opencode"))
	if !owned {
		t.Error("a terminal interface is not owned")
	}
	below := func(s scene.Spec, age time.Duration) scene.Spec {
		s.PPID, s.Started = terminal.PID, now.Add(-age)
		return s
	}
	bun := spec("opencode", "opencode", "run", "/opt/server.js")
	bun.Env = append(bun.Env, "BUN_BE_BUN=1")
	for name, test := range map[string]struct {
		spec scene.Spec
		want bool
	}{
		"run":                       {spec("opencode", "opencode", "run", "say hello"), true},
		"serve":                     {spec("opencode", "opencode", "serve", "--port", "4097"), true},
		"beside the wrapper of 1.2": {spec(".opencode", "/opt/.opencode"), true},
		"the wrapper of 1.1":        {spec("MainThread", "node", "/usr/bin/opencode"), false},
		"a client of a server":      {spec("opencode", "opencode", "attach", "http://127.0.0.1:4096"), false},
		"a command without session": {spec("opencode", "opencode", "models"), false},
		"another program":           {spec("bash", "bash", "-c", "opencode"), false},
		"a language server":         {bun, false},
		"an agent's own tool":       {below(spec("opencode", "opencode"), time.Minute), false},
		"not yet another program":   {below(spec("opencode", "opencode", "run", "x"), 0), false},
		"started by an agent":       {below(spec("opencode", "opencode", "run", "x"), 10*time.Second), true},
		"without a command line":    {spec("opencode"), false},
	} {
		if _, owned := ownedBy(t, w, a, test.spec); owned != test.want {
			t.Errorf("%s: owned is %v", name, owned)
		}
	}
	p, err := w.Table.Find(terminal.PID)
	must.Do(t, err)
	w.Procs.End(terminal.PID)
	if a.OwnsProcess(p) {
		t.Error("a process that is gone is owned")
	}
}

// bareRow is a process table that fails the test when more than a row is read.
type bareRow struct {
	proc.Lister
	t *testing.T
}

func (b bareRow) Args(id proc.Identity) ([]string, error) {
	b.t.Errorf("the command line of process %d is read", id.PID)
	return nil, proc.ErrGone
}

func (b bareRow) Env(id proc.Identity) ([]string, error) {
	b.t.Errorf("the environment of process %d is read", id.PID)
	return nil, proc.ErrGone
}

// A process that goes by another name is told from its row alone.
func TestOwnsProcessReadsNothingOfOthers(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir(), Table: bareRow{t: t}})
	for _, comm := range []string{"", "bash", "node", "MainThread", "opencode-helper", "claude"} {
		if a.OwnsProcess(proc.Process{Identity: proc.Identity{PID: 1, Start: 1}, Comm: comm}) {
			t.Errorf("%q is owned", comm)
		}
	}
}

// In each recording exactly the processes of sessions are owned. A terminal interface of 2.0, which
// has none, can't be told from one of 1.x.
func TestOwnsRecordedProcesses(t *testing.T) {
	for _, dir := range adaptertest.Folders(t, recordings, 16) {
		r := adaptertest.Replay(t, dir)
		a := New(r.Config())
		list, err := r.Table.List(t.Context())
		must.Do(t, err)
		owned := map[int]bool{}
		for _, p := range list {
			if a.OwnsProcess(p) {
				owned[p.PID] = true
			}
		}
		hosts := map[int]bool{}
		for _, s := range adaptertest.Discover(t, a, adapters.Query{}).Sessions {
			if !s.Process.IsZero() && !owned[s.Process.PID] {
				t.Errorf("%s: process %d of session %s is not owned", dir, s.Process.PID, s.ID)
			}
			if !s.Process.IsZero() {
				hosts[s.Process.PID] = true
			}
		}
		if len(owned) > len(hosts) && !strings.Contains(dir, "-2.0.") {
			t.Errorf("%s: owned %v, with sessions %v", dir, owned, hosts)
		}
	}
}
