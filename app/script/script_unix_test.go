//go:build unix

package script

import (
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string][2]string{
		`echo "$NAME|$HOME|$PWD"`:    {"exit 0", "v||" + dir + "\n"},
		`echo a; echo b >&2; exit 5`: {"exit 5", "a\nb\n"},
		`no-such-program-here`:       {"exit 127", ""},
	} {
		result, output := Run(t.Context(), command, dir, []string{"NAME=v", "PATH=/bin:/usr/bin"}, time.Minute)
		if result != want[0] || want[1] != "" && output != want[1] {
			t.Errorf("%s: %q, %q; want %q", command, result, output, want)
		}
	}
}

// A script that hangs ends with what it started, and one that leaves a child with
// its output open holds nobody up.
func TestLimit(t *testing.T) {
	began := time.Now()
	result, output := Run(t.Context(), "echo begun; sleep 60 & sleep 60", t.TempDir(), []string{"PATH=/bin:/usr/bin"}, 200*time.Millisecond)
	if !strings.HasPrefix(result, "killed after") || output != "begun\n" || time.Since(began) > 10*time.Second {
		t.Errorf("%q, %q after %s", result, output, time.Since(began))
	}
	began = time.Now()
	result, _ = Run(t.Context(), "(sleep 5; true) &", t.TempDir(), []string{"PATH=/bin:/usr/bin"}, time.Minute)
	if result != Succeeded || time.Since(began) > 4*time.Second {
		t.Errorf("%q after %s", result, time.Since(began))
	}
}

func TestOutputIsBounded(t *testing.T) {
	_, output := Run(t.Context(), `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`, t.TempDir(), nil, time.Minute)
	if len(output) != MaxOutput || !strings.HasSuffix(output, "line 4999\n") {
		t.Errorf("%d bytes, the end %q", len(output), output[max(0, len(output)-20):])
	}
}
