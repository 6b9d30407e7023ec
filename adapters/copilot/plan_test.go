package copilot

import (
	"testing"

	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// TestPlan: a call that presents a plan says so.
func TestPlan(t *testing.T) {
	r, err := parse([]byte(`{"id":"e1","type":"tool.execution_start","timestamp":"2026-11-25T10:00:00Z","data":{"toolCallId":"c1","toolName":"exit_plan_mode","arguments":{"summary":"# One\n\n1. two"}}}`))
	must.Do(t, err)
	if m := r.item(kit.Whole); m.Role == "" || !m.Plan || m.Text != "# One\n\n1. two" {
		t.Errorf("%+v", m)
	}
}
