package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// The output of git is read up to a limit, whatever git prints.
func TestOutputIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "git")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\nexec head -c 70000000 /dev/zero\n"), 0o700))
	g := &Git{path: path, env: os.Environ()}
	if out, err := g.ask(t.Context(), t.TempDir(), "status"); err == nil || !strings.Contains(err.Error(), "the output is larger than 64 MB") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
