package main

import (
	"crypto/rand"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"aead.dev/minisign"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every manifest names addresses and checksums of files that the release has; one whose files are missing is not made.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"rollcall-0.2.0-windows-amd64-setup.exe", "rollcall-0.2.0-windows-amd64.zip", "rollcall-0.2.0-linux-amd64.tar.gz", "rollcall-0.2.0-linux-arm64.tar.gz",
		"rollcall-cli-0.2.0-linux-amd64.tar.gz", "rollcall-cli-0.2.0-linux-arm64.tar.gz", "rollcall-cli-0.2.0-darwin-arm64.tar.gz", "rollcall-cli-0.2.0-darwin-amd64.tar.gz"} {
		write(t, filepath.Join(dir, name), name)
	}
	if err := writeChecksums(dir); err != nil {
		t.Fatal(err)
	}
	const address = "https://example.org/o/r/releases/download/v0.2.0/"
	if err := writeManifests(dir, "0.2.0", address); err != nil {
		t.Fatal(err)
	}
	sums, err := readChecksums(dir)
	if err != nil || len(sums) != 8 {
		t.Fatal(sums, err)
	}
	scoop := read(t, filepath.Join(dir, "manifests/scoop/rollcall.json"))
	var document struct {
		Version, Homepage string
		Architecture      map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(scoop), &document); err != nil {
		t.Fatal(err)
	}
	if got := document.Architecture["64bit"]; got.URL != address+"rollcall-0.2.0-windows-amd64.zip" || got.Hash != sums["rollcall-0.2.0-windows-amd64.zip"] || document.Homepage != "https://example.org/o/r" {
		t.Errorf("%+v", document)
	}
	for _, m := range manifests {
		text, err := os.ReadFile(filepath.Join(dir, "manifests", m.path))
		if isCask := strings.Contains(m.path, "Casks"); isCask != os.IsNotExist(err) {
			t.Errorf("%s: %v", m.path, err)
		}
		for _, n := range m.needs {
			name := "rollcall" + strings.TrimPrefix(n[0], "rollcall") + "-0.2.0-" + n[1]
			if err == nil && strings.Contains(m.text, ".Sum") && !strings.Contains(string(text), sums[name]) {
				t.Errorf("%s has no checksum of %s", m.path, name)
			}
		}
	}
}

func TestManifestsRefuse(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, sumsFile), "no checksum\n")
	for _, args := range [][2]string{{"v0.2.0", "https://example.org"}, {"0.2", "https://example.org"}, {"0.2.0", "http://example.org"}, {"0.2.0", "x"}, {"0.2.0", "https://example.org"}} {
		if err := writeManifests(dir, args[0], args[1]); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

func TestSignature(t *testing.T) {
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := minisign.EncryptKey("secret", private)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), sumsFile)
	write(t, path, "sums")
	if err := sign(path, "", ""); err == nil || !strings.Contains(err.Error(), "MINISIGN_KEY is empty") {
		t.Error(err)
	}
	if err := sign(path, string(key), "secret"); err != nil {
		t.Fatal(err)
	}
	if err := verify(path, public.String()); err != nil {
		t.Error(err)
	}
	write(t, path, "other sums")
	if err := verify(path, public.String()); err == nil {
		t.Error("a changed file was accepted")
	}
}

func TestBillOfMaterials(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "github.com/BurntSushi/toml", Version: "v1.6.0", Sum: "h1:x"}}}
	bom := billOfMaterials("0.2.0", "rollcall", "00", info)
	if c := (*bom.Components)[1]; c.PackageURL != "pkg:golang/github.com/burntsushi/toml@v1.6.0" || c.Name != "github.com/BurntSushi/toml" {
		t.Errorf("%+v", c)
	}
	if bom.SerialNumber != "" || bom.Metadata.Timestamp != "" {
		t.Error("two builds would differ")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := writeSBOMs("0.2.0", out, []string{self}); err != nil {
		t.Fatal(err)
	}
	if text := read(t, filepath.Join(out, filepath.Base(self)+".cdx.json")); !strings.Contains(text, "pkg:golang/aead.dev/minisign@") || !json.Valid([]byte(text)) {
		t.Error(text)
	}
}
