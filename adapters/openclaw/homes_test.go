package openclaw_test

import (
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

// TestNamedHomes: a gateway whose state folder the user named is asked with the token in it. A named folder that does not exist is no problem.
func TestNamedHomes(t *testing.T) {
	w := newFixture(t)
	other := t.TempDir()
	g := w.gateway(gatewaytest.Options{Token: "another-token"})
	must.Do(t, g.WriteState(other))
	g.Update(gatewaytest.Session{Key: "agent:main:main", SessionID: "elsewhere", Running: true})
	if roll, _ := discover(t, w.adapter(), adapters.Query{}); len(roll.Sessions) > 0 {
		t.Fatalf("found without a name: %+v", roll.Sessions)
	}
	w.cfg.Homes = func() []string { return []string{other, filepath.Join(other, "missing")} }
	if s := one(t, w.adapter()); s.Status != adapters.Working {
		t.Errorf("%+v", s)
	}
}
