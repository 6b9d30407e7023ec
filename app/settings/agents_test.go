package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

func TestLeftOutAgents(t *testing.T) {
	path := write(t, "leave_out_agents = [\"pi\", \"codex\", \"pi\"]\n")
	s, err := Load(path)
	if want := []adapters.Name{agentname.Pi, agentname.Codex}; err != nil || !slices.Equal(s.LeftOutAgents, want) {
		t.Errorf("%q, %v", s.LeftOutAgents, err)
	}
	s, err = Load(write(t, "theme = \"dark\"\nleave_out_agents = [\"pie\", \"openclaw\"]\n"))
	if want := []adapters.Name{agentname.OpenClaw}; err == nil || !strings.Contains(err.Error(), `line 2: leave_out_agents: unknown agent "pie"; agents: `) || !slices.Equal(s.LeftOutAgents, want) {
		t.Errorf("%q, %v", s.LeftOutAgents, err)
	}
}

func TestHomes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	there, missing := filepath.ToSlash(dir), filepath.ToSlash(filepath.Join(dir, "none"))
	s, err := Load(write(t, "[homes]\ncodex = [\""+there+"\", \""+missing+"\"]\npi = [\""+filepath.ToSlash(file)+"\", \"~/x\"]\n"))
	home, _ := os.UserHomeDir()
	if err != nil || !slices.Equal(s.HomesOf(agentname.Codex), []string{dir, filepath.Join(dir, "none")}) || s.HomesOf(agentname.Pi)[1] != filepath.Join(home, "x") {
		t.Errorf("%q, %v", s.Homes, err)
	}
	if got := strings.Join(s.HomeProblems(), "|"); !strings.Contains(got, "none, a home of the settings (homes.codex), does not exist") || !strings.Contains(got, "file, a home of the settings (homes.pi), is not a folder") || strings.Contains(got, dir+",") {
		t.Errorf("problems %q", got)
	}
	for text, want := range map[string]string{
		"[homes]\n\npie = [\"/x\"]": "line 3: homes.pie is ignored: unknown agent",
		"[homes]\ncodex = [\"x\"]":  `line 2: homes.codex: "x" is ignored`,
	} {
		s, err := Load(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || len(s.HomesOf(agentname.Codex)) > 0 {
			t.Errorf("%q: %v, %q", text, err, s.Homes)
		}
	}
}
