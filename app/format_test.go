package app

import (
	"context"
	"testing"

	"rollcall/adapters"
)

// reader is an adapter that reads one session.
type reader struct {
	named
	skipped map[string]int
}

func (r reader) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: []adapters.Session{{ID: "a", Agent: "one", State: adapters.State{Status: adapters.Stopped}}}, Skipped: r.skipped}, nil
}

func TestFormat(t *testing.T) {
	for want, skipped := range map[Format]map[string]int{Recognised: nil, Partly: {"record of an unknown type": 1}} {
		snap := Ask(t.Context(), Config{Adapters: []adapters.Adapter{reader{skipped: skipped}}, Since: All}, Once{})
		if got := snap.Adapters[0].Format; got != want {
			t.Errorf("format %q, want %q", got, want)
		}
	}
}
