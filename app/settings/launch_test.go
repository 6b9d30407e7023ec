package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
)

func TestLaunchSettings(t *testing.T) {
	got, err := Load(write(t, `default_agent = "codex"
leave_out_environment = ["AWS_SECRET_ACCESS_KEY", "ProgramFiles(x86)"]
[agents.claude-code]
model = "opus"
mode = "plan"
[agents.codex]
model = "gpt-6"
`))
	want := Settings{DefaultAgent: "codex", LeaveOut: []string{"AWS_SECRET_ACCESS_KEY", "ProgramFiles(x86)"},
		Agents: map[adapters.Name]Agent{"claude-code": {Model: "opus", Mode: "plan"}, "codex": {Model: "gpt-6"}}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
}

// TestLaunchMistakes: each names its line, the rest of the file is used.
func TestLaunchMistakes(t *testing.T) {
	const before = "# a comment\nleave_out_environment = [\n  \"GOOD\",\n]\n"
	for text, want := range map[string]string{
		"default_agent = \"clod\"":                             `line 5: default_agent is ignored: unknown agent "clod"; agents: claude-code, cline, codex`,
		"default_agent = \"openclaw\"":                         `line 5: default_agent is ignored: unknown agent "openclaw"`,
		"[agents.codex]\nmode = \"ask\"\n[agents.clod]\nx = 1": "line 7: agents.clod is ignored: unknown agent",
		"[agents.codex]\n\nmodel = \"--help\"":                 `line 7: agents.codex.model is ignored: "--help" must not begin`,
		"[agents]\ncodex = {mode = \" x\"}":                    `line 6: agents.codex.mode is ignored`,
		"[agents.codex]\nmodell = \"x\"":                       `line 6: this version has no setting "agents.codex.modell"`,
		"[launch]\nkeep_envs = true":                           `line 6: this version has no setting "launch.keep_envs"`,
		"[launch]\ndefault_agent = \"codex\"":                  `line 6: this version has no setting "launch.default_agent"`,
	} {
		s, err := Load(write(t, before+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if d := cmp.Diff([]string{"GOOD"}, s.LeaveOut); d != "" || s.DefaultAgent != "" || s.Agents["codex"].Model != "" || s.Agents["clod"] != (Agent{}) {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if _, err := Load(write(t, "leave_out_environment = [\"A=B\", \"\"]")); err == nil || strings.Count(err.Error(), "line 1: leave_out_environment: ") != 2 {
		t.Errorf("%v", err)
	}
	// Finding very many lines would take minutes.
	var many strings.Builder
	many.WriteString("[agents.codex]\n")
	for i := range 3000 {
		fmt.Fprintf(&many, "k%d = 1\n", i)
	}
	if _, err := Load(write(t, many.String())); err == nil || strings.Count(err.Error(), "line ") != maxLines {
		t.Errorf("%.200v", err)
	}
	if _, err := Load(write(t, "\ndefault_agent = 3")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}
