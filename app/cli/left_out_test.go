package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
)

// TestListLeavesOut: agents that the settings leave out are not listed, which is said, and are listed when they are named.
func TestListLeavesOut(t *testing.T) {
	d := deps(claude(), codex(simple("mine", agentname.Codex, adapters.Working, time.Minute)))
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{LeftOutAgents: []adapters.Name{agentname.Codex}}, nil
	}
	terminal := Streams{Width: 100}
	r := runOn(t.Context(), t, terminal, d, "list")
	if strings.Contains(r.out, "mine") || !strings.Contains(r.err, "left out by the settings: Codex") || !strings.Contains(r.err, "no live sessions of claude-code") {
		t.Errorf("list: %+v", r)
	}
	if r := runOn(t.Context(), t, terminal, d, "list", "--agent", "codex"); !strings.Contains(r.out, "mine") || strings.Contains(r.err, "left out") {
		t.Errorf("list --agent codex: %+v", r)
	}
	var doc struct {
		Sessions []machine.SessionJSON `json:"sessions"`
		LeftOut  []adapters.Name       `json:"left_out"`
	}
	r = run(t, d, "list", "--json")
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || len(doc.Sessions) > 0 || !slices.Equal(doc.LeftOut, []adapters.Name{agentname.Codex}) {
		t.Errorf("list --json: %+v, %v", r, err)
	}
	d = deps(codex(simple("mine", agentname.Codex, adapters.Working, time.Minute)))
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{LeftOutAgents: []adapters.Name{agentname.Codex}}, nil
	}
	if r := runOn(t.Context(), t, Streams{}, d, "list"); !strings.Contains(r.err, "no sessions are shown: left out by the settings: Codex") {
		t.Errorf("with all agents left out: %+v", r)
	}
}

// TestPendingLeavesOut: what an agent that is left out asks is shown only where its session is named.
func TestPendingLeavesOut(t *testing.T) {
	d := deps(asks("ls"))
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{LeftOutAgents: []adapters.Name{agentname.Codex}}, nil
	}
	if r := run(t, d, "pending"); r.code != Done || r.out != "no session waits for you\n" {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "pending", "s1"); r.code != Done || !strings.Contains(r.out, "| ls") {
		t.Errorf("%+v", r)
	}
}
