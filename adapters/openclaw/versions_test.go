package openclaw_test

import (
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
)

// TestMay asks a gateway that grants its scopes to one kind of client alone and
// knows no offset, as 2026.5.18 does.
func TestMay(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.5.18", BackendOnly: true, NoOffset: true})
	list := make([]gatewaytest.Session, many)
	for i := range list {
		list[i] = gatewaytest.Session{Key: fmt.Sprintf("agent:main:%d", i), SessionID: fmt.Sprintf("id-%d", i), Status: "done",
			UpdatedAt: time.Now().Add(-time.Duration(i) * time.Second)}
	}
	g.Set(list)
	roll, err := discover(t, w.adapter(), adapters.Query{})
	if err != nil || len(roll.Sessions) != many {
		t.Errorf("%d sessions, want %d; %v", len(roll.Sessions), many, err)
	}
}

// TestTimeoutOrAbort: 2026.5.18 says timeout of what the user aborted as well.
func TestTimeoutOrAbort(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.5.18", BackendOnly: true, NoOffset: true})
	a := w.adapter()
	for runID, want := range map[string]adapters.Outcome{"": "", "run-1": adapters.Failed} {
		g.Set([]gatewaytest.Session{{Key: "agent:main:main", SessionID: "s", Status: "timeout", RunID: runID, UpdatedAt: time.Now()}})
		if s := one(t, a); s.Status != adapters.Idle || s.Outcome != want {
			t.Errorf("run %q: %s %s (%s), want %q", runID, s.Status, s.Outcome, s.Evidence, want)
		}
	}
}

// TestNothingGranted: where the folder isn't here, the refusal is shown.
func TestNothingGranted(t *testing.T) {
	w := newFixture(t)
	g := w.gateway(gatewaytest.Options{NoScopes: true})
	w.cfg.Gateways = []openclaw.Gateway{{URL: g.URL(), Token: g.Token()}}
	_, err := discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "does not grant Rollcall the scope operator.read", "update it")
}
