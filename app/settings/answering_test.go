package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestAnswering(t *testing.T) {
	for text, want := range map[string]struct {
		value Answering
		bad   string
	}{
		"":                          {"", ""},
		"answering = \"on\"":        {AnswerAll, ""},
		"answering = \"deny-only\"": {AnswerDeny, ""},
		"answering = \"off\"":       {AnswerNone, ""},
		"default_agent = \"\"\nanswering = \"deny\"": {AnswerNone, "line 2: answering is \"deny\""},
		"answering = \"on\"\nx = [":                  {AnswerNone, "the whole file is ignored"},
		"answering = true":                           {AnswerNone, "the whole file is ignored"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		s, err := Load(path)
		if s.Answering.Requests != want.value {
			t.Errorf("%q: %q, want %q", text, s.Answering.Requests, want.value)
		}
		if (err == nil) != (want.bad == "") || err != nil && !strings.Contains(err.Error(), want.bad) {
			t.Errorf("%q: %v, want %q", text, err, want.bad)
		}
	}
}

// TestAnsweringIsNotPassedOver: the last good settings stay in force while the file has a mistake; "answering" does not.
func TestAnsweringIsNotPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("theme = \"dark\"\n")
	l := NewLive(path, nil)
	if got := l.Answering(); got != "" {
		t.Errorf("without a value: %q", got)
	}
	changes := l.Changes()
	for text, want := range map[string]Answering{"answering = \"of\"\n": AnswerNone, "answering = \"deny-only\"\ntheme = \"purple\"\n": AnswerDeny, "not toml": AnswerNone} {
		write(text)
		l.Read()
		if set, _ := l.Get(); l.Answering() != want || set.Theme != "dark" {
			t.Errorf("%q: answering %q, want %q; theme %q", text, l.Answering(), want, set.Theme)
		}
		select {
		case <-changes:
		default:
			t.Errorf("%q: no change", text)
		}
	}
}

// TestOneKey: commands are entered for a folder, in any form of a list that TOML has; what is not one is named with its line, and allows nothing.
func TestOneKey(t *testing.T) {
	home := must.Get(os.UserHomeDir())(t)
	x := OneKey{"~/x", "go test ./..."}
	for text, want := range map[string]struct {
		requests Answering
		oneKey   []OneKey
		bad      string
	}{
		"[answering]\nrequests = \"deny-only\"\n":                                                       {AnswerDeny, nil, ""},
		"[answering]\none_key = [{folder = \"~/x\", command = \"go test ./...\"}]\n":                    {"", []OneKey{x}, ""},
		"[[answering.one_key]]\nfolder = \"~/x\"\ncommand = \"go test ./...\"\n":                        {"", []OneKey{x}, ""},
		"[answering]\none_key = []\n":                                                                   {"", nil, ""},
		"[answering]\nrequests = \"of\"\none_key = [{folder = \"~/x\", command = \"go test ./...\"}]\n": {AnswerNone, []OneKey{x}, "line 2: answering is \"of\""},
		"[answering]\none_key = [{folder = \"x\", command = \"ls\"}]\n":                                 {"", nil, "line 2: answering.one_key: the folder \"x\" is ignored"},
		"[answering]\none_key = [{folder = \"~/x\", command = \"a\\nb\"}]\n":                            {"", nil, "answering.one_key: the command \"a\\nb\" is ignored"},
		"[answering]\none_key = [{folder = \"~/x\", command = \"a\u200b\"}]\n":                          {"", nil, "is ignored"},
		"[answering]\none_key = [{folder = \"~/x\"}]\n":                                                 {AnswerNone, nil, "the whole file is ignored"},
		"[answering]\none_key = [{folder = \"~/x\", command = \"ls\", pattern = true}]\n":               {AnswerNone, nil, "the whole file is ignored"},
		"[answering]\none_key = \"go test\"\n":                                                          {AnswerNone, nil, "the whole file is ignored"},
		"[answering]\none_keys = []\n":                                                                  {AnswerNone, nil, "answering.one_keys"},
		"answering = \"on\"\n[[answering.one_key]]\nfolder = \"~/x\"\ncommand = \"go test ./...\"\n":    {AnswerNone, nil, "the whole file is ignored"},
	} {
		s, err := Load(write(t, text))
		if s.Answering.Requests != want.requests || !slices.Equal(s.Answering.OneKey, want.oneKey) {
			t.Errorf("%q: %+v, want %+v", text, s.Answering, want)
		}
		if (err == nil) != (want.bad == "") || err != nil && !strings.Contains(err.Error(), want.bad) {
			t.Errorf("%q: %v, want %q", text, err, want.bad)
		}
	}
	if !x.In(filepath.Join(home, "x")) || x.In(filepath.Join(home, "x", "y")) || x.In(home) {
		t.Error("the command is for the folder ~/x alone")
	}
}

// TestSetOneKey: the window enters and removes commands, whatever form the file has; all else in it stays.
func TestSetOneKey(t *testing.T) {
	a, b := OneKey{drive + "/x", "grep '[a]' \"b\" # c"}, OneKey{drive + "/y", "make test"}
	for before, want := range map[string]string{
		"": "[answering]\none_key = [{folder = \"" + drive + "/x\", command = \"grep '[a]' \\\"b\\\" # c\"}]\n",
		"answering = \"deny-only\" # mine\ntheme = \"dark\"\n": "theme = \"dark\"\n\n[answering]\none_key = [{folder = \"" + drive + "/x\", command = \"grep '[a]' \\\"b\\\" # c\"}]\nrequests = \"deny-only\"\n",
		"[answering]\nrequests = \"on\"\n":                     "[answering]\none_key = [{folder = \"" + drive + "/x\", command = \"grep '[a]' \\\"b\\\" # c\"}]\nrequests = \"on\"\n",
	} {
		path := write(t, before)
		must.Do(t, SetOneKey(path, a, true))
		must.Do(t, SetOneKey(path, a, true))
		if got := textOf(t, path); got != want {
			t.Errorf("%q became\n%s", before, got)
		}
		must.Do(t, SetOneKey(path, b, true))
		must.Do(t, SetOneKey(path, a, false))
		must.Do(t, Change(path, Edit{Table: "answering", Key: "requests", Value: "off"}))
		if s, err := Load(path); err != nil || !slices.Equal(s.Answering.OneKey, []OneKey{b}) || s.Answering.Requests != AnswerNone {
			t.Errorf("%q: %+v, %v", before, s.Answering, err)
		}
	}
	path := write(t, "answering = \"on\"\n")
	must.Do(t, Change(path, Edit{Table: "answering", Key: "requests", Value: "deny-only"}))
	if got := textOf(t, path); got != "answering = \"deny-only\"\n" {
		t.Errorf("without commands, the setting is %q", got)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}
