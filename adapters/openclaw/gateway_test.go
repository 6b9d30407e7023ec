package openclaw_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/adaptertest"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
	"rollcall/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noProcesses is a process table in which nothing runs but this test.
type noProcesses struct{ *proc.Table }

func (noProcesses) List(context.Context) ([]proc.Process, error) { return nil, nil }

// fixture is a home folder, an environment and an adapter in it.
type fixture struct {
	t    *testing.T
	home string
	env  map[string]string
	cfg  openclaw.Config
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{t: t, home: filepath.Join(t.TempDir(), "h[o]me"), env: map[string]string{}}
	w.cfg = openclaw.Config{Config: adapters.Config{
		Home: w.home, Env: func(k string) string { return w.env[k] }, Table: noProcesses{proc.Open()}}}
	must.Do(t, os.Mkdir(w.home, 0o755))
	return w
}

func (w *fixture) adapter() *openclaw.Adapter { return openclaw.New(w.cfg) }

// gateway starts a double.
func (w *fixture) gateway(o gatewaytest.Options) *gatewaytest.Gateway {
	w.t.Helper()
	g, err := gatewaytest.Start(o)
	must.Do(w.t, err)
	w.t.Cleanup(g.Close)
	return g
}

// running starts a double that has its settings and its lock in the home folder.
func (w *fixture) running(o gatewaytest.Options) *gatewaytest.Gateway {
	w.t.Helper()
	g := w.gateway(o)
	must.Do(w.t, g.WriteHome(w.home))
	return g
}

func (w *fixture) write(path, content string) {
	w.t.Helper()
	path = filepath.Join(w.home, path)
	must.Do(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(w.t, os.WriteFile(path, []byte(content), 0o600))
}

// discover asks, and holds the rules of every session.
func discover(t *testing.T, a *openclaw.Adapter, q adapters.Query) (adapters.Roll, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	roll, err := a.Discover(ctx, q)
	ids := map[string]bool{}
	for i := range roll.Sessions {
		s := &roll.Sessions[i]
		for _, wrong := range adaptertest.Invalid(s) {
			t.Errorf("session %s %s", s.ID, wrong)
		}
		if ids[s.ID] {
			t.Errorf("session %s is listed twice", s.ID)
		}
		ids[s.ID] = true
	}
	return roll, err
}

// one asks for the only session that there is.
func one(t *testing.T, a *openclaw.Adapter) adapters.Session {
	t.Helper()
	roll, err := discover(t, a, adapters.Query{})
	if err != nil || len(roll.Sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(roll.Sessions), err)
	}
	return roll.Sessions[0]
}

// onlyProblem wants one problem that holds these words.
func onlyProblem(t *testing.T, err error, kind error, words ...string) {
	t.Helper()
	list := adapters.Problems(err)
	if len(list) != 1 {
		t.Fatalf("problems: %v, want one", list)
	}
	var p *adapters.Problem
	if !errors.As(list[0], &p) || !errors.Is(p, kind) {
		t.Errorf("%v is no %v", list[0], kind)
	}
	for _, w := range words {
		if !strings.Contains(list[0].Error(), w) {
			t.Errorf("%q lacks %q", list[0], w)
		}
	}
}
