package settings

import (
	"os"
	"path/filepath"
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
		if s.Answering != want.value {
			t.Errorf("%q: %q, want %q", text, s.Answering, want.value)
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
