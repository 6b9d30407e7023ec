package openclaw_test

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
)

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
