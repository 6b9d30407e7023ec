package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestChange(t *testing.T) {
	reply := Edit{"notifications", "reply", "off"}
	sounds := Edit{"notifications", "sounds", map[string]string{"permission": "bell", "a b": `c"{d`}}
	for name, tt := range map[string]struct {
		before string
		edit   Edit
		want   string // or the error
	}{
		"no file":             {"", reply, "[notifications]\nreply = \"off\"\n"},
		"replaced":            {"# mine\n[notifications]\nreply = \"on\"  # loud\nended = 'off'\n", reply, "# mine\n[notifications]\nreply = \"off\"  # loud\nended = 'off'\n"},
		"added":               {"[notifications] # here\n# about it\nended = \"off\"\n", reply, "[notifications] # here\nreply = \"off\"\n# about it\nended = \"off\"\n"},
		"a new table":         {"x = 1 # unknown\n\n[other]\ny = 2", reply, "x = 1 # unknown\n\n[other]\ny = 2\n\n[notifications]\nreply = \"off\"\n"},
		"dotted":              {"notifications.reply = \"on\"\n", reply, "notifications.reply = \"off\"\n"},
		"dotted, another":     {"notifications.ended = \"on\"\n", reply, "cannot be changed here"},
		"braces":              {"notifications = {reply = \"on\", ended = \"off\"}\n", reply, "line 1: reply is written in a way"},
		"reset":               {"[notifications]\nreply = \"on\" # gone\nended = \"off\"\n", Edit{"notifications", "reply", nil}, "[notifications]\nended = \"off\"\n"},
		"reset of nothing":    {"x = 1\n", Edit{"notifications", "reply", nil}, "x = 1\n"},
		"reset of the last":   {"[notifications]\nreply = \"on\"\n", Edit{"notifications", "reply", nil}, "[notifications]\n"},
		"theme":               {"# about Rollcall\n\ndefault_agent = \"codex\"\n\n# launches\n[launch]\nkeep_env = true\n", Edit{"", "theme", "dark"}, "# about Rollcall\n\ndefault_agent = \"codex\"\n\ntheme = \"dark\"\n\n# launches\n[launch]\nkeep_env = true\n"},
		"theme replaced":      {"theme = \"light\"\n[launch]\n", Edit{"", "theme", "dark"}, "theme = \"dark\"\n[launch]\n"},
		"theme, no table":     {"default_agent = \"codex\"", Edit{"", "theme", "dark"}, "default_agent = \"codex\"\ntheme = \"dark\"\n"},
		"list":                {"[notifications]\nmute = [\"/a\"]\n", Edit{"notifications", "mute", []string{"/a", `/b"\`}}, "[notifications]\nmute = [\"/a\", \"/b\\\"\\\\\"]\n"},
		"list, several lines": {"[notifications]\nmute = [\n  \"/a\", # one\n]\n", Edit{"notifications", "mute", []string{"/b"}}, "line 2: mute is written in a way"},
		"texts":               {"[notifications]\nsounds = { ended = \"x\" } # mine\n", sounds, "[notifications]\nsounds = { \"a b\" = \"c\\\"{d\", permission = \"bell\" } # mine\n"},
		"texts, braces in it": {"[notifications]\nsounds = {ended = \"{x}\"}\nreply = \"on\"\n", sounds, "[notifications]\nsounds = { \"a b\" = \"c\\\"{d\", permission = \"bell\" }\nreply = \"on\"\n"},
		"texts, reset":        {"[notifications]\nsounds = {ended = \"x\"}\n", Edit{"notifications", "sounds", nil}, "[notifications]\n"},
		"texts, a table":      {"[notifications.sounds]\nended = \"x\"\n", sounds, "cannot be changed here"},
		"texts, added":        {"", sounds, "[notifications]\nsounds = { \"a b\" = \"c\\\"{d\", permission = \"bell\" }\n"},
		"in a string":         {"text = \"\"\"\n[notifications]\n\"\"\"\n", reply, "cannot be changed here"},
		"windows":             {"[notifications]\r\nended = \"off\"\r\n", reply, "[notifications]\r\nreply = \"off\"\r\nended = \"off\"\r\n"},
		"boolean":             {"[notifications]\nwhen_focused = false\n", Edit{"notifications", "when_focused", true}, "[notifications]\nwhen_focused = true\n"},
		"broken":              {"[notifications\n", reply, "correct that first"},
	} {
		path := filepath.Join(t.TempDir(), "rollcall", "config.toml")
		if tt.before != "" {
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte(tt.before), 0o640))
		}
		err := Change(path, tt.edit)
		got, _ := os.ReadFile(path)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) || string(got) != tt.before {
				t.Errorf("%s: %v, %q", name, err, got)
			}
			continue
		}
		if string(got) != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
		if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
			t.Errorf("%s: left %v", name, list)
		}
	}
}

// TestChangeThroughLink: a link to a file elsewhere stays, and so does the file's mode.
func TestChangeThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "dotfiles", "rollcall.toml"), filepath.Join(dir, "config.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(t, os.WriteFile(file, []byte("theme = \"dark\"\n"), 0o640))
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	must.Do(t, Change(link, Edit{"", "theme", "light"}))
	got, _ := os.ReadFile(file)
	info, _ := os.Stat(file)
	if target, err := os.Readlink(link); err != nil || target != file || string(got) != "theme = \"light\"\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%s, %v: %q, %v", target, err, got, info.Mode())
	}
}

func TestMute(t *testing.T) {
	odd := map[bool]string{true: `C:\work\b[1]`, false: "/work/b*"}[drive != ""]
	path := filepath.Join(t.TempDir(), "rollcall", "config.toml")
	for _, folder := range []string{drive + "/work/a", odd} {
		must.Do(t, Mute(path, folder, true))
	}
	s, err := Load(path)
	if err != nil || !s.Notifications.IsMuted(drive+"/work/a/x") || !s.Notifications.IsMuted(odd) || s.Notifications.IsMuted(drive+"/work/bc") {
		t.Errorf("%+v, %v", s.Notifications, err)
	}
	must.Do(t, Mute(path, drive+"/work/a", false))
	if err := Mute(path, odd, true); err != nil { // again
		t.Fatal(err)
	}
	if s, _ := Load(path); len(s.Notifications.Mute) != 1 {
		t.Errorf("%q", s.Notifications.Mute)
	}
	s, _ = Load(path)
	if s.Notifications.IsMuted(drive+"/work/a") || !s.Notifications.IsMuted(odd) {
		t.Errorf("%+v", s.Notifications)
	}
}
