package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestCheck: Go's linker signs programs for arm64 and no others, and a damaged signature is found.
func TestCheck(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is missing")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	must.Do(t, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	build := func(arch string) string {
		out := filepath.Join(dir, arch)
		cmd := exec.Command("go", "build", "-trimpath", "-buildmode=pie", "-ldflags", "-s -w", "-o", out, source)
		cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	signed := build("arm64")
	if err := check(signed); err != nil {
		t.Errorf("arm64: %v", err)
	}
	if err := check(build("amd64")); err == nil || !strings.Contains(err.Error(), "no signature") {
		t.Errorf("amd64: %v", err)
	}
	data := must.Get(os.ReadFile(signed))(t)
	for name, damaged := range map[string][]byte{
		"another form":    bytes.Replace(data, []byte{0xfa, 0xde, 0x0c, 0xc0}, []byte{0, 0, 0, 0}, 1),
		"beyond its end":  data[:len(data)-100],
		"no program":      []byte("no program"),
		"not even a file": nil,
	} {
		path := filepath.Join(dir, "damaged")
		must.Do(t, os.WriteFile(path, damaged, 0o600))
		if err := check(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
