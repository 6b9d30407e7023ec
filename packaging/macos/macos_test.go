//go:build linux || darwin

// Package macos tests the layout of the application for macOS, which only a Mac can start.
package macos

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/internal/must"
)

// plist returns the keys and values of a property list with one dictionary. A boolean is "true" or "false".
func plist(t *testing.T, path string) map[string]string {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer func() { _ = f.Close() }()
	values := map[string]string{}
	key := ""
	d := xml.NewDecoder(f)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local == "plist" || start.Name.Local == "dict" {
			continue
		}
		var text string
		if err := d.DecodeElement(&text, &start); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch start.Name.Local {
		case "key":
			key = text
		case "true", "false":
			values[key] = start.Name.Local
		default:
			values[key] = text
		}
	}
}

// TestLayout: the application has the files and keys that macOS looks for, and appears in the menu bar alone.
func TestLayout(t *testing.T) {
	for _, tool := range []string{"bash", "git", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is missing")
		}
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	must.Do(t, os.WriteFile(program, []byte("program"), 0o700))
	app := filepath.Join(dir, "Rollcall.app")
	if out, err := exec.Command("./layout", program, app).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var files []string
	err := filepath.WalkDir(app, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".icns" {
			name, _ := filepath.Rel(app, path)
			files = append(files, name)
		}
		return err
	})
	if want := []string{"Contents/Info.plist", "Contents/MacOS/rollcall", "Contents/PkgInfo", "Contents/Resources/LICENSE.txt"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("%v, %q", err, files)
	}
	if info, err := os.Stat(filepath.Join(app, "Contents/MacOS/rollcall")); err != nil || info.Mode().Perm() != 0o755 {
		t.Error(info, err)
	}
	values := plist(t, filepath.Join(app, "Contents/Info.plist"))
	for key, want := range map[string]string{"LSUIElement": "true", "CFBundleIdentifier": "io.github.rollcall.Rollcall", "CFBundleExecutable": "rollcall",
		"CFBundleIconFile": "Rollcall", "CFBundlePackageType": "APPL", "NSHighResolutionCapable": "true", "LSMinimumSystemVersion": "14.0"} {
		if values[key] != want {
			t.Errorf("%s is %q, not %q", key, values[key], want)
		}
	}
	for _, key := range []string{"CFBundleVersion", "CFBundleShortVersionString"} {
		for _, c := range values[key] {
			if c != '.' && (c < '0' || c > '9') {
				t.Errorf("%s %q has more than numbers and dots", key, values[key])
				break
			}
		}
	}
	if values["NSAppleEventsUsageDescription"] == "" {
		t.Error("macOS refuses Apple events of an application that does not say what they are for")
	}
	if plist(t, "entitlements.plist")["com.apple.security.automation.apple-events"] != "true" {
		t.Error("the hardened runtime refuses Apple events without their entitlement")
	}
}
