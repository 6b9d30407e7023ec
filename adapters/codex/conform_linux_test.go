package codex

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Codex,
		New: func(w *scene.Environment) adapters.Adapter {
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes})
		},
		Hang:   hang,
		Exempt: map[string]string{},
	})
}

// hang lets a daemon host the first session, whose socket accepts and never
// answers.
func hang(w *scene.Environment, _ scene.Agent, sessions []*scene.Session) func() {
	dir, err := os.MkdirTemp("", "sock") // a socket's path must be short
	must.Do(w, err)
	w.Cleanup(func() { os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	must.Do(w, err)
	w.Cleanup(func() { listener.Close() })
	link := w.Path(".codex", "app-server-control", "app-server-control.sock")
	must.Do(w, errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(dir, "s"), link)))
	lock := w.Path(".codex", lockFolder, sessions[0].ID+".lock")
	w.Write(lock, "")
	w.Procs.End(sessions[0].Process.PID)
	w.Procs.Start(scene.Spec{Comm: "codex", Exe: "/opt/codex/codex", CWD: "/", Started: time.Now().Add(-time.Minute),
		Args: []string{"codex", "app-server", "--listen", "unix://", "--managed-daemon"}, Env: []string{"HOME=" + w.Home}, Files: []string{sessions[0].File, lock}})
	return func() { listener.Close() }
}

// A turn that was killed stays open in what is remembered; the whole one that
// follows it in a resumed thread is read from its end, which isn't the open
// turn's.
func TestWholeTurnAfterAKilledOne(t *testing.T) {
	w := scene.New(t)
	s := scene.Codex(w).Start("/home/dev/proj", "begin")
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	s.Kill()
	for _, step := range []func(){func() {}, func() { s.Resume("again"); s.Answer("fine") }, s.Exit} {
		step()
		roll, err := a.Discover(t.Context(), adapters.Query{})
		if err != nil || len(roll.Sessions) != 1 || scene.TruthOf(&roll.Sessions[0]) != s.Truth() {
			t.Errorf("%v, %v; want %s", roll.Sessions, err, s.Truth())
		}
	}
}
