package settings

import (
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
)

func TestLeftOutAgents(t *testing.T) {
	path := write(t, "leave_out_agents = [\"pi\", \"codex\", \"pi\"]\n")
	s, err := Load(path)
	if want := []adapters.Name{adapters.Pi, adapters.Codex}; err != nil || !slices.Equal(s.LeftOutAgents, want) {
		t.Errorf("%q, %v", s.LeftOutAgents, err)
	}
	s, err = Load(write(t, "theme = \"dark\"\nleave_out_agents = [\"pie\", \"openclaw\"]\n"))
	if want := []adapters.Name{adapters.OpenClaw}; err == nil || !strings.Contains(err.Error(), `line 2: leave_out_agents: unknown agent "pie"; agents: `) || !slices.Equal(s.LeftOutAgents, want) {
		t.Errorf("%q, %v", s.LeftOutAgents, err)
	}
}
