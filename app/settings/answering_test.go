package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(path)
		if s.Answering != want.value {
			t.Errorf("%q: %q, want %q", text, s.Answering, want.value)
		}
		if (err == nil) != (want.bad == "") || err != nil && !strings.Contains(err.Error(), want.bad) {
			t.Errorf("%q: %v, want %q", text, err, want.bad)
		}
	}
}
