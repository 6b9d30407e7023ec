package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
	"rollcall/proc"
)

// keeper keeps the launches of a stage until it is killed, as a process of its own.
func keeper() int {
	table := proc.OpenAt("/proc", "/etc")
	w, err := proc.NewWatcher(table)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	l := In(os.Getenv("FAKE_STATE"), table)
	core := app.New(app.Config{Adapters: []adapters.Adapter{&fake{store: os.Getenv("FAKE_STORE"), table: table}}, Table: table, Watch: w, Launches: l})
	go func() { _ = core.Run(context.Background()) }()
	_ = NewKeeper(l, core, w, slog.New(slog.DiscardHandler)).Run(context.Background())
	return 0
}

// TestKeeperKilledWhileAHookBegins checks that a hook whose keeper is killed while it starts has an unknown result, and
// runs again only if the user asked for that.
func TestKeeperKilledWhileAHookBegins(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := newStage(t, &fake{role: "mute", chooses: true})
		out := filepath.Join(t.TempDir(), "out")
		s.start(func(r *Request) {
			r.Hooks = []Hook{{When: OnComplete, Again: again, Command: "echo begun >> " + out + "; while [ -e " + out + " ] && [ ! -e " + out + ".free ]; do sleep 0.05; done"}}
		})
		begun := func() int {
			text, _ := os.ReadFile(out)
			return strings.Count(string(text), "begun")
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=keeper", "FAKE_STORE="+s.store, "FAKE_STATE="+s.state)
		must.Do(t, cmd.Start())
		s.signal(s.only().Process, proc.Kill)
		s.until("the hook to begin", func() bool { return begun() == 1 })
		if err := s.RetryHooks(t.Context(), s.only().ID); !errors.Is(err, ErrNoRetry) {
			t.Errorf("a retry while the hook runs: %v, want ErrNoRetry", err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		r := s.only()
		if h := s.shownHooks(&r)[0]; !h.Lost || h.RanAt.IsZero() || h.Result != "" {
			t.Errorf("after the keeper was killed, the hook is %+v", h)
		}
		must.Do(t, os.WriteFile(out+".free", nil, 0o600))
		s.tray()
		if !again {
			// A second launch whose hook runs shows that the tray has seen this one.
			s.dir = t.TempDir()
			other := s.start(func(r *Request) { r.Force, r.Hooks = true, []Hook{{When: OnComplete, Command: "true"}} }).Record
			s.signal(other.Process, proc.Kill)
			s.until("the hook of another launch", func() bool {
				x, err := s.record(other.ID)
				return err == nil && x.Hooks[0].Result != ""
			})
			if begun() != 1 {
				t.Error("the hook ran twice by itself")
			}
			must.Do(t, errors.Join(s.records.Remove(other.ID), s.RetryHooks(t.Context(), r.ID)))
		}
		s.until("its result", func() bool { return s.only().Hooks[0].Result == "exit 0" })
		if begun() != 2 {
			t.Errorf("the hook ran %d times, want 2", begun())
		}
	}
}

// TestFullDisk checks that the end of a launch is recorded, and its hook run, once a full disk has space again.
// TestLoopPauses of the package trouble checks how often the keeper tries.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	s := newStage(t, &fake{role: "mute", chooses: true})
	s.state = filepath.Join(disk.Path, "state")
	s.Launches = In(s.state, s.table)
	out := filepath.Join(t.TempDir(), "out")
	s.start(func(r *Request) { r.Hooks = []Hook{{When: OnComplete, Command: "echo ended >> " + out}} })
	agent := s.only().Process
	s.signal(agent, proc.Kill) // with it goes the space of its input
	s.until("its end", func() bool { return !s.table.Alive(agent) })
	disk.Fill(t)

	w := must.Get(proc.NewWatcher(s.table))(t)
	core := app.New(app.Config{Adapters: []adapters.Adapter{s.fake}, Table: s.table, Watch: w, Launches: s.Launches})
	var log eventually.Output
	k := NewKeeper(s.Launches, core, w, slog.New(slog.NewTextHandler(&log, nil)))
	k.Troubles = store.NewFailures(k.log, core.ShowTroubles)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- core.Run(ctx) }()
	go func() { done <- k.Run(ctx) }()
	shown := func() string { return strings.Join(core.Snapshot().Troubles, "; ") }

	s.until("the trouble", func() bool { return shown() == "disk full: launches can't be kept" })
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines were logged:\n%s", n, log.String())
	}
	disk.Free(t)
	s.until("its result", func() bool { return s.only().Hooks[0].Result == "exit 0" })
	s.until("the end of the trouble", func() bool { return shown() == "" })
	if said, err := os.ReadFile(out); string(said) != "ended\n" {
		t.Errorf("the hook wrote %q, %v", said, err)
	}
	cancel()
	if err := errors.Join(<-done, <-done, w.Close()); err != nil {
		t.Error(err)
	}
}
