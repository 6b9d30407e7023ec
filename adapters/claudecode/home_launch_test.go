package claudecode

import (
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/proc"
)

// TestLaunchHome: the variable names another home, and never the standard one, for which it is removed.
func TestLaunchHome(t *testing.T) {
	home := t.TempDir()
	standard, work := filepath.Join(home, ".claude"), filepath.Join(home, "work")
	for _, c := range []struct {
		env, home  string
		set, unset []string
	}{
		{"", "", nil, nil},
		{"", standard, nil, nil},
		{"", work, []string{"CLAUDE_CONFIG_DIR=" + work}, nil},
		{work, work, nil, nil},
		{work, standard, nil, []string{"CLAUDE_CONFIG_DIR"}},
	} {
		a := New(adapters.Config{Home: home, Env: func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": c.env}[name] }, Table: proc.Open()})
		got, err := a.Command("claude", adapters.Task{Prompt: "x", Home: c.home})
		if err != nil || !slices.Equal(got.Set, c.set) || !slices.Equal(got.Unset, c.unset) {
			t.Errorf("%+v: set %v, unset %v, %v", c, got.Set, got.Unset, err)
		}
	}
}
