package settings

import (
	"strings"
	"testing"
)

func TestHeadless(t *testing.T) {
	s, err := Load(write(t, "headless = \"quiet\"\n"))
	if s.Headless != "quiet" || err != nil {
		t.Errorf("%q, %v", s.Headless, err)
	}
	s, err = Load(write(t, "\nheadless = \"hide\"\n"))
	if s.Headless != "" || err == nil || !strings.Contains(err.Error(), `config.toml: line 2: headless is ignored: it is one of "show", "fold" and "quiet", not "hide"`) {
		t.Errorf("%q, %v", s.Headless, err)
	}
}
