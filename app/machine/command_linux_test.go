package machine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/app/settings"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// TestNoMaster: ssh of a user with ControlMaster does not become the master of a shared connection.
func TestNoMaster(t *testing.T) {
	sshtest.Require(t)
	config := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(config, []byte("Host *\n\tControlMaster auto\n\tControlPath ~/.ssh/%C\n"), 0o600))
	out, err := exec.Command("ssh", append(append([]string{"-G", "-F", config}, sshOptions()...), "--", "devbox")...).Output()
	must.Do(t, err)
	lines := strings.Split(string(out), "\n")
	if !slices.Contains(lines, "controlmaster false") || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "controlpath /") }) {
		t.Errorf("%s", out)
	}
}

// TestOutputIsHeld: a command that succeeded is not reported as failed when something that it left behind holds its output.
func TestOutputIsHeld(t *testing.T) {
	h := &Host{Machine: settings.Machine{Name: "dev", Exec: script(t, "sleep 10 & echo done")}}
	out, err := h.Output(t.Context(), "peek")
	if string(out) != "done\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	var printed, errs bytes.Buffer
	code, err := h.Run(t.Context(), nil, &printed, &errs, "peek")
	if code != 0 || err != nil || printed.String() != "done\n" {
		t.Errorf("%d, %v, %q, %q", code, err, printed.String(), errs.String())
	}
}

// TestLongLine: a line that is too long to wait for its end is printed in parts, whole.
func TestLongLine(t *testing.T) {
	var out bytes.Buffer
	c := &cleaner{to: &out}
	text := strings.Repeat("abcdefghij", maxLine/5)
	for part := range slices.Chunk([]byte(text+"\nnext\n"), 1000) {
		if _, err := c.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	c.end()
	if got := strings.ReplaceAll(out.String(), "\n", ""); got != text+"next" {
		t.Errorf("%d bytes, want %d", len(got), len(text)+4)
	}
}
