package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestChangeNamed: an agent is added, changed and removed, and all else in the file stays as it is.
func TestChangeNamed(t *testing.T) {
	const file = "# mine\ntheme = \"dark\"\n\n[[agent]] # the first\nname = \"one\"\nlaunch = [\"-p\"] # so\nfuture = 1\n# of notifications\n[notifications]\nreply = \"off\"\n[[agent]]\nname = \"two\"\n"
	for name, c := range map[string]struct {
		old  string
		n    *NamedAgent
		want string // empty: the text of the error
		err  string
	}{
		"added": {"", &NamedAgent{Name: "three", Program: Names{"thr"}, Launch: []string{"--m", "{prompt}"}}, file + "\n[[agent]]\nname = \"three\"\nprogram = \"thr\"\nlaunch = [\"--m\", \"{prompt}\"]\n", ""},
		"changed": {"one", &NamedAgent{Name: "uno", Launch: []string{"-q"}, TitleWaiting: `\?$`},
			strings.NewReplacer(`name = "one"`, `name = "uno"`, `["-p"] # so`+"\n", `["-q"] # so`+"\ntitle_waiting = \"\\\\?$\"\n").Replace(file), ""},
		"member removed":        {"one", &NamedAgent{Name: "one"}, strings.Replace(file, "launch = [\"-p\"] # so\n", "", 1), ""},
		"removed":               {"two", nil, strings.TrimSuffix(file, "[[agent]]\nname = \"two\"\n"), ""},
		"first removed":         {"one", nil, "# mine\ntheme = \"dark\"\n\n# of notifications\n[notifications]\nreply = \"off\"\n[[agent]]\nname = \"two\"\n", ""},
		"gone":                  {"four", nil, "", `the file has no agent "four" any more`},
		"twice":                 {"", &NamedAgent{Name: "two"}, "", "another agent has the name"},
		"renamed to another":    {"one", &NamedAgent{Name: "two"}, "", "another agent has the name"},
		"a wrong name":          {"", &NamedAgent{Name: "A b"}, "", "lower-case letters"},
		"an agent that is read": {"", &NamedAgent{Name: "x", Rows: []string{"rows.py"}}, "", "rows must begin with the absolute path"},
		"a wrong pattern":       {"", &NamedAgent{Name: "x", TitleWorking: "("}, "", "title_working is no regular expression"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			must.Do(t, os.WriteFile(path, []byte(file), 0o600))
			err := ChangeNamed(path, c.old, c.n)
			got, _ := os.ReadFile(path)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) || string(got) != file {
					t.Errorf("%v\n%s", err, got)
				}
			case err != nil || string(got) != c.want:
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, ChangeNamed(path, "", &NamedAgent{Name: "new"}))
	if got, _ := os.ReadFile(path); string(got) != "\n[[agent]]\nname = \"new\"\n" {
		t.Errorf("a new file: %q", got)
	}
	must.Do(t, os.WriteFile(path, []byte("agent = [{name = \"x\"}]\n"), 0o600))
	if err := ChangeNamed(path, "x", nil); err == nil || !strings.Contains(err.Error(), "not written as [[agent]]") {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(path, []byte("[[agent]]\nname = \"x\"\nlaunch = [\n \"a\"\n]\n"), 0o600))
	if err := ChangeNamed(path, "x", &NamedAgent{Name: "x", Launch: []string{"b"}}); err == nil || !strings.Contains(err.Error(), "launch is written in a way that cannot be changed here") {
		t.Error(err)
	}
}
