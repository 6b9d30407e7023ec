package openclaw_test

import (
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
)

// TestMay asks a gateway that grants its scopes to one kind of client alone and
// knows no offset, as 2026.5.18 does.
func TestMay(t *testing.T) {
	w := newWorld(t)
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
