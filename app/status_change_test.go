package app

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// TestNothingIsLeftOfIdle: a session that is no longer idle for the core has no command in the background and leaves no decision open, and how its last turn ended
// is still known.
func TestNothingIsLeftOfIdle(t *testing.T) {
	idle := Session{Session: on("a", adapters.Idle, 1)}
	idle.Outcome = adapters.Completed
	idle.Decision = "a plan"
	idle.Background = []adapters.Background{{Kind: adapters.Running, What: "make watch"}}
	for name, x := range map[string]Session{
		"removed":   idle.Removed("the gateway no longer lists it"),
		"not shown": idle.notShown(time.Now(), "its agent is left out").Session,
		"unlisted":  unlistedSession(idle, &liveness{memo: map[proc.Identity]bool{pid(1): true}}),
		"gone":      stoppedSession(idle),
	} {
		if x.Decision != "" || x.Background != nil || x.Outcome != adapters.Completed {
			t.Errorf("%s: decision %q, background %v, outcome %q", name, x.Decision, x.Background, x.Outcome)
		}
	}
}
