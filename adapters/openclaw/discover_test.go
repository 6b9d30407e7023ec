package openclaw_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

func TestStatuses(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	now := time.Now()
	g.Set([]gatewaytest.Session{
		{Key: "agent:main:a", SessionID: "s-running", Running: true, StartedAt: now, Label: "my label", Model: "mock-1",
			WorkspaceDir: "/home/dev/proj", Total: 900, ContextTokens: 1000, UpdatedAt: now},
		{Key: "agent:main:b", SessionID: "s-done", Status: "done", EndedAt: now, Input: 5, Output: 6, CacheRead: 7, CostUSD: 0.25},
		{Key: "agent:main:c", SessionID: "s-failed", Status: "failed", LastRunError: "provider says no"},
		{Key: "agent:main:d", SessionID: "s-killed", Status: "killed", Aborted: true},
		{Key: "agent:main:e", SessionID: "s-timeout", Status: "timeout", RunID: "r"},
		{Key: "agent:main:f", SessionID: "s-crashed"},
		{Key: "agent:main:g", SessionID: "s-lost", Status: "running"}, // the row says so, no run is active
		{Key: "agent:main:subagent:x", SessionID: "s-sub", Running: true, SpawnedBy: "agent:main:a"},
		{Key: "agent:main:h", SessionID: "s-child", ParentKey: "agent:main:a", Status: "done"},
		{Key: "agent:main:i", SessionID: "s-waits", Running: true},
		{Key: "agent:main:j", SessionID: "s-asks", Running: true},
	})
	g.Ask("agent:main:i", "touch /tmp/x")
	g.Question("agent:main:j", "which colour?")
	roll, err := discover(t, w.adapter(), adapters.Query{})
	must.Do(t, err)
	got := map[string]adapters.Session{}
	for _, s := range roll.Sessions {
		got[s.ID] = s
	}
	want := []struct {
		id      string
		status  adapters.Status
		waiting adapters.WaitingFor
		outcome adapters.Outcome
		parent  string
	}{
		{"s-running", adapters.Working, "", "", ""},
		{"s-done", adapters.Idle, "", adapters.Completed, ""},
		{"s-failed", adapters.Idle, "", adapters.Failed, ""},
		{"s-killed", adapters.Idle, "", adapters.Interrupted, ""},
		{"s-timeout", adapters.Idle, "", adapters.Failed, ""},
		{"s-crashed", adapters.Idle, "", "", ""},
		{"s-lost", adapters.Idle, "", "", ""},
		{"s-sub", adapters.Working, "", "", "s-running"},
		{"s-child", adapters.Idle, "", adapters.Completed, ""},
		{"s-waits", adapters.Waiting, adapters.ForPermission, "", ""},
		{"s-asks", adapters.Waiting, adapters.ForQuestion, "", ""},
	}
	if len(got) != len(want) {
		t.Errorf("%d sessions, want %d", len(got), len(want))
	}
	for _, x := range want {
		s := got[x.id]
		if s.Status != x.status || s.WaitingFor != x.waiting || s.Outcome != x.outcome || s.Parent != x.parent {
			t.Errorf("%s is %s %s %s of %q (%s)", x.id, s.Status, s.WaitingFor, s.Outcome, s.Parent, s.Evidence)
		}
	}
	s := got["s-running"]
	if s.Title != "my label" || s.Model != "mock-1" || s.CWD != "/home/dev/proj" || s.Remote != g.URL() || s.Version != "2026.9.6" ||
		s.Context != (adapters.Context{Used: 900, Window: 1000}) || s.LastActivityAt.IsZero() {
		t.Errorf("%+v", s)
	}
	if d := got["s-done"]; d.CostUSD != 0.25 || d.Tokens == nil || *d.Tokens != (adapters.Tokens{Input: 5, Output: 6, CacheRead: 7}) {
		t.Errorf("%+v", d)
	}
	if got["s-done"].CWD != "/home/dev/ws" {
		t.Errorf("folder %q is not that of the agent", got["s-done"].CWD)
	}
}

// TestManySessions: all of many sessions are listed, each once, also while they
// change places.
func TestManySessions(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	base := time.Now().Add(-time.Hour)
	list := make([]gatewaytest.Session, many)
	for i := range list {
		list[i] = gatewaytest.Session{Key: fmt.Sprintf("agent:main:%d", i), SessionID: fmt.Sprintf("id-%d", i), Status: "done",
			UpdatedAt: base.Add(-time.Duration(i) * time.Second)}
	}
	g.Set(list)
	a := w.adapter().Patient()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := many - 1; ; i -= 7 { // an old one takes a turn and moves to the front
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			g.Change(fmt.Sprintf("agent:main:%d", max(i, 0)), func(s *gatewaytest.Session) { s.UpdatedAt = time.Now() })
		}
	}()
	roll, err := discover(t, a, adapters.Query{})
	close(stop)
	<-stopped
	if err != nil || len(roll.Sessions) != many {
		t.Errorf("%d sessions, %v", len(roll.Sessions), err)
	}
	roll, err = discover(t, a, adapters.Query{IDs: []string{"id-1711"}})
	if err != nil || len(roll.Sessions) != 1 || roll.Sessions[0].ID != "id-1711" {
		t.Errorf("%d sessions, %v", len(roll.Sessions), err)
	}
}

// Of more sessions than are listed the newest are, and the others are counted.
func TestMoreSessionsThanListed(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	list := make([]gatewaytest.Session, 10_500)
	for i := range list {
		list[i] = gatewaytest.Session{Key: fmt.Sprintf("agent:main:%d", i), SessionID: fmt.Sprintf("id-%d", i), Status: "done",
			UpdatedAt: time.Now().Add(-48 * time.Hour * time.Duration(i) / 10_000)}
	}
	g.Set(list)
	roll, err := discover(t, w.adapter().Patient(), adapters.Query{})
	counted := 0
	for _, n := range roll.Skipped {
		counted += n
	}
	if len(roll.Sessions) != 10_000 || err != nil || counted != 500 {
		t.Errorf("%d sessions, skipped %v, %v", len(roll.Sessions), roll.Skipped, err)
	}
}

// TestSeveralGateways: each fails apart, and the same id on two of them is two
// sessions.
func TestSeveralGateways(t *testing.T) {
	w := newFixture(t)
	one := w.running(gatewaytest.Options{})
	two := w.gateway(gatewaytest.Options{Token: "another-token"})
	must.Do(t, two.WriteState(filepath.Join(w.home, ".openclaw-rescue")))
	hangs := w.gateway(gatewaytest.Options{})
	hangs.Hang()
	w.cfg.Gateways = []openclaw.Gateway{
		{URL: hangs.URL(), Token: hangs.Token(), Name: "hanging"},
		{URL: "ws://127.0.0.1:1", Token: "x", Name: "nobody"},
	}
	one.Update(gatewaytest.Session{Key: "agent:main:main", SessionID: "same", Running: true})
	two.Update(gatewaytest.Session{Key: "agent:main:main", SessionID: "same", Status: "done"})
	a := w.adapter()
	roll, err := discover(t, a, adapters.Query{})
	if len(roll.Sessions) != 2 || roll.Sessions[0].Remote == roll.Sessions[1].Remote {
		t.Fatalf("%+v, %v", roll.Sessions, err)
	}
	problems := adapters.Problems(err)
	if len(problems) != 2 || !errors.Is(problems[0], adapters.ErrTimeout) || !strings.Contains(problems[1].Error(), "is not running") {
		t.Errorf("problems: %v", problems)
	}
	ids := []string{roll.Sessions[0].ID, roll.Sessions[1].ID}
	roll, _ = discover(t, a, adapters.Query{})
	if len(roll.Sessions) != 2 || roll.Sessions[0].ID != ids[0] || roll.Sessions[1].ID != ids[1] {
		t.Errorf("ids changed: %v, %+v", ids, roll.Sessions)
	}
	if err := a.Stop(t.Context(), roll.Sessions[0]); err != nil {
		t.Error(err)
	}
	if one.Calls("sessions.abort") != 1 || two.Calls("sessions.abort") != 0 {
		t.Error("the wrong gateway was asked to stop")
	}
}

// TestEnvironment: where the gateway is and what it wants can stand in the
// environment.
func TestEnvironment(t *testing.T) {
	g := newFixture(t).gateway(gatewaytest.Options{Token: "of the environment"})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	port := fmt.Sprint(g.Port())
	for name, env := range map[string]map[string]string{
		"url":          {"OPENCLAW_GATEWAY_URL": "http://localhost:" + port, "OPENCLAW_GATEWAY_TOKEN": g.Token()},
		"token in url": {"OPENCLAW_GATEWAY_URL": "ws://127.0.0.1:" + port + "/?token=of+the+environment"},
		"port":         {"OPENCLAW_GATEWAY_PORT": port, "OPENCLAW_GATEWAY_TOKEN": g.Token()},
		"state":        {"OPENCLAW_STATE_DIR": "~/state", "OPENCLAW_GATEWAY_TOKEN": g.Token()},
		"config":       {"OPENCLAW_CONFIG_PATH": "~/my.json", "CLAW": g.Token()},
		"dotenv":       {"OPENCLAW_PROFILE": "work"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.env = env
			switch name {
			case "state":
				w.write("state/openclaw.json", `{gateway: {port: `+port+`}}`)
			case "config":
				w.write("my.json", `{gateway: {port: `+port+`, auth: {token: {source: 'env', id: 'CLAW'}}}}`)
			case "dotenv":
				w.write(".openclaw-work/.env", "# mine\nexport OPENCLAW_GATEWAY_TOKEN='of the environment'\n")
				w.write(".openclaw-work/openclaw.json", `{gateway: {port: `+port+`, auth: {token: "${OPENCLAW_GATEWAY_TOKEN}"}}}`)
			}
			if s := one(t, w.adapter()); s.Status != adapters.Working || strings.Contains(s.Remote, "token") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestNamedAndFound: a gateway that the settings name and that is found as well is
// asked once, and has the name that the user gave it.
func TestNamedAndFound(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Status: "done"})
	w.cfg.Gateways = []openclaw.Gateway{{URL: fmt.Sprintf("ws://localhost:%d/", g.Port()), Name: "my lobster"}}
	if s := one(t, w.adapter()); s.Remote != "my lobster" {
		t.Errorf("%+v", s)
	}
	if n := g.Calls("connect"); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A gateway keeps its sessions for ever: those in which nothing happened for a day
// are over, whatever was left open in them but a run.
func TestOldSessionsAreOver(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	now := time.Now()
	young, old := now.Add(-23*time.Hour), now.Add(-25*time.Hour)
	g.Set([]gatewaytest.Session{
		{Key: "agent:main:a", SessionID: "s-young", Status: "done", CreatedAt: old, UpdatedAt: young},
		{Key: "agent:main:b", SessionID: "s-old", Status: "failed", CreatedAt: old, UpdatedAt: old},
		{Key: "agent:main:c", SessionID: "s-works", Running: true, CreatedAt: old, UpdatedAt: old, StartedAt: old},
	})
	roll, err := discover(t, w.adapter(), adapters.Query{})
	must.Do(t, err)
	want := map[string]adapters.Status{"s-young": adapters.Idle, "s-old": adapters.Stopped, "s-works": adapters.Working}
	for _, s := range roll.Sessions {
		if s.Status != want[s.ID] {
			t.Errorf("%s is %s (%s), want %s", s.ID, s.Status, s.Evidence, want[s.ID])
		}
		if s.ID == "s-old" && (s.Outcome != adapters.Failed || !strings.Contains(s.Evidence, "counts as stopped")) {
			t.Errorf("%+v", s)
		}
	}
	if len(roll.Sessions) != 3 {
		t.Errorf("%d sessions", len(roll.Sessions))
	}
}
