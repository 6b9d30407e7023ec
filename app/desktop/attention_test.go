//go:build !headless

package desktop

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// TestOwnActs: an act counts for its session alone, in the process that had it, and for a while.
func TestOwnActs(t *testing.T) {
	a := &attention{acted: map[string]act{"old": {at: time.Now().Add(-time.Hour)}}}
	a.acts("a")
	in := func(id string, pid int) bool {
		return a.hasActed(&app.Session{Session: adapters.Session{ID: id, Process: proc.Identity{PID: pid}}})
	}
	of := func(id string) bool { return in(id, 1) }
	if !of("a") || of("b") || of("old") {
		t.Errorf("a: %v, b: %v, old: %v", of("a"), of("b"), of("old"))
	}
	if !of("a") || in("a", 2) {
		t.Errorf("the end of the same process: %v, of a later one: %v", of("a"), in("a", 2))
	}
	if _, kept := a.acted["old"]; kept {
		t.Error("an old act is kept")
	}
}
