//go:build unix

package script

import (
	"strconv"
	"strings"
	"syscall"
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

// TestLimit checks that a script that hangs is killed with its children, and that Run does not wait for a child that has
// the output open: both would otherwise outlast the test's own limit.
func TestLimit(t *testing.T) {
	result, output := Run(t.Context(), "echo begun; sleep 3600 & sleep 3600", t.TempDir(), []string{"PATH=/bin:/usr/bin"}, 5*time.Second)
	if !strings.HasPrefix(result, "killed after") || output != "begun\n" {
		t.Errorf("%q, %q", result, output)
	}
	dir := t.TempDir()
	result, output = Run(t.Context(), "sleep 3600 & echo $!", dir, []string{"PATH=/bin:/usr/bin"}, time.Hour)
	if result != Succeeded {
		t.Errorf("a script with a child in the background: %q", result)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(output)); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("the child %q does not run (%v)", output, err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	_, output := Run(t.Context(), `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`, t.TempDir(), nil, time.Minute)
	if len(output) != MaxOutput || !strings.HasSuffix(output, "line 4999\n") {
		t.Errorf("%d bytes, the end %q", len(output), output[max(0, len(output)-20):])
	}
}
