//go:build !headless

package desktop

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// TestOwnActs: an act counts for its session alone, and for a while.
func TestOwnActs(t *testing.T) {
	a := &attention{acted: map[string]time.Time{"old": time.Now().Add(-time.Hour)}}
	a.acts("a")
	of := func(id string) bool { return a.hasActed(&app.Session{Session: adapters.Session{ID: id}}) }
	if !of("a") || of("b") || of("old") {
		t.Errorf("a: %v, b: %v, old: %v", of("a"), of("b"), of("old"))
	}
	if _, kept := a.acted["old"]; kept {
		t.Error("an old act is kept")
	}
}
