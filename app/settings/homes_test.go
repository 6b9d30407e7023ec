package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

func TestNamedHomes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"work", "private", "elsewhere"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, name, ".codex"), 0o700))
	}
	work := filepath.Join(dir, "work", ".codex")
	private := filepath.Join(dir, "private", ".codex")
	other := filepath.Join(dir, "elsewhere", ".codex")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(work, link); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(dir, "config.toml")
	text := "[homes]\ncodex = [{path = '" + link + "', name = \"work\"}, '" + private + "', {path = 'x', name = \"n\"}, {path = '/y', name = \" n\"}]\n"
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	s, err := Load(file)
	if err == nil || strings.Count(err.Error(), "homes.codex") != 2 || len(s.HomesOf(agentname.Codex)) != 2 {
		t.Fatalf("%v, %v", err, s.Homes)
	}
	if got := s.Account(agentname.Codex, work); got != "work" {
		t.Errorf("the home that the link leads to is called %q", got)
	}
	if got := s.Account(agentname.Codex, private); got != "codex" {
		t.Errorf("a home without a name is called %q", got)
	}
	for name, want := range map[string]string{"work": link, private: private, "codex": private} {
		if got, err := s.FindHome(agentname.Codex, name, []string{work}); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"codex": "2 homes are called", "none": "homes: work, codex", filepath.Join(dir, "no"): "does not exist"} {
		if _, err := s.FindHome(agentname.Codex, name, []string{work, other}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.NameAccount(agentname.Pi, "/a/.pi", false) != "" || s.NameAccount(agentname.Pi, "/a/.pi", true) != "pi" || s.NameAccount(agentname.Codex, work, false) != "work" {
		t.Error("an account has a name where its agent has one home, or none where it has several")
	}
}

// A home that is removed on the settings page leaves the names of the others.
func TestChangeHomes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(file, []byte("[homes]\ncodex = [{path = \"/a\", name = \"w \\\"x\\\"\"}, \"/b\"] # mine\n"), 0o600))
	e := Edit{Table: "homes", Key: "codex", Value: Homes{{"/a", `w "x"`}, {"/c", ""}}}
	must.Do(t, Change(file, e))
	got, err := os.ReadFile(file)
	if want := "[homes]\ncodex = [{path = \"/a\", name = \"w \\\"x\\\"\"}, \"/c\"] # mine\n"; err != nil || string(got) != want {
		t.Errorf("%v, %s", err, got)
	}
}

func TestHomeWithoutPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(file, []byte("[homes]\ncodex = [{name = \"x\"}]\n"), 0o600))
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "a home is a path, or a path with a name") {
		t.Error(err)
	}
}
