package qwen

import (
	"testing"

	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// TestPlan: a call that presents a plan says so.
func TestPlan(t *testing.T) {
	r, err := parse([]byte(`{"uuid":"u1","type":"assistant","timestamp":"2026-11-25T10:00:00Z","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"exit_plan_mode","args":{"plan":"# One\n\n1. two"}}}]}}`))
	must.Do(t, err)
	if list := r.messages(kit.Whole); len(list) != 1 || !list[0].Plan || list[0].Text != "# One\n\n1. two" {
		t.Errorf("%+v", list)
	}
}
