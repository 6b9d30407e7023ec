package cli

import (
	"strings"
	"testing"
)

// TestFocus: what can't be shown has its reason, on Err for people and in the document for scripts, and exit code 1.
func TestFocus(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("SWAYSOCK", "")
	d := deps(claude(full()))
	r := run(t, d, "focus", "9830", "--json")
	if r.code != 1 || !strings.Contains(r.out, `"shown":false`) || !strings.Contains(r.out, `"steps":[]`) || !strings.Contains(r.out, `"error":"its terminal can't be shown: `) || r.err != "" {
		t.Errorf("exit code %d, %s, %s", r.code, r.out, r.err)
	}
	r = run(t, d, "focus", "9830")
	if r.code != 1 || r.out != "" || !strings.Contains(r.err, ": its terminal can't be shown: it runs on gw, without its own terminal\n") {
		t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
	}
	r = run(t, d, "focus", "9830", "--print")
	if r.code != 0 || !strings.HasPrefix(r.out, "its terminal can't be shown: it runs on gw, without its own terminal\n") {
		t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
	}
	r = run(t, d, "focus", "9830", "--attach", "--print")
	if r.code != 2 {
		t.Errorf("exit code %d", r.code)
	}
}
