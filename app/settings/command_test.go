package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestCommandExpand(t *testing.T) {
	run := []string{"claude", "--resume", "a b; $(c)"}
	for _, tt := range []struct {
		command Command
		run     []string
		want    []string
	}{
		{"kitty --directory {folder} {command}", run, []string{"kitty", "--directory", "/a b", "claude", "--resume", "a b; $(c)"}},
		{"xterm -e", run, []string{"xterm", "-e", "claude", "--resume", "a b; $(c)"}},
		{`"/opt/my term/bin" '--wd={folder}' ""`, run, []string{"/opt/my term/bin", "--wd=/a b", "", "claude", "--resume", "a b; $(c)"}},
		{"code", nil, []string{"code", "/a b"}},
		{"emacsclient -c {folder}/.", nil, []string{"emacsclient", "-c", "/a b/."}},
		{"", run, nil},
	} {
		got, err := tt.command.Expand("/a b", tt.run)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q (%v), want %q", tt.command, got, err, tt.want)
		}
	}
}

func TestCommandMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	for text, want := range map[string]string{
		`terminal = "kitty 'x"`:              "terminal is ignored: a quotation mark ' is not closed",
		`terminal = "{command}"`:             "terminal is ignored: it must begin with a program",
		`terminal = "kitty x{command}"`:      "terminal is ignored: {command} must be a separate word",
		`editor = "code {file}"`:             "editor is ignored: it has no placeholder {file}; there is {folder}",
		`editor = "   "`:                     "editor is ignored: it must begin with a program",
		"editor = \"code \\u001b[31m\"":      "editor is ignored: it contains a control character",
		`editor = "code {folder} {command}"`: "editor is ignored: it has no placeholder {command}; there is {folder}",
	} {
		must.Do(t, os.WriteFile(path, []byte("theme = \"dark\"\n"+text+"\n"), 0o600))
		s, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), want) || s.Theme != DarkTheme || s.Terminal != "" || s.Editor != "" {
			t.Errorf("%s: %v, %+v", text, err, s)
		}
	}
	must.Do(t, os.WriteFile(path, []byte("terminal = \"kitty {command}\"\neditor = \"code\"\n"), 0o600))
	if s, err := Load(path); err != nil || s.Terminal != "kitty {command}" || s.Editor != "code" {
		t.Errorf("%+v, %v", s, err)
	}
}
