//go:build linux

package macos

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestTypecheck: the check of the Objective-C code finds a mistake in the tray's, whether Objective-C or Go has it.
func TestTypecheck(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the standard library for macOS")
	}
	if _, err := exec.LookPath("clang"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("clang is missing")
		}
		t.Skip("clang is missing")
	}
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "fyne.io/systray")
	list.Env = append(os.Environ(), "GOOS=darwin", "CGO_ENABLED=1")
	out := must.Get(list.Output())(t)
	systray := strings.TrimSpace(string(out))
	for name, tt := range map[string]struct{ file, old, mistake, message string }{
		"as it is":                   {},
		"a method that is missing":   {"systray_darwin.m", "[menuItem setHidden:TRUE]", "[menuItem setHiden:TRUE]", "setHiden:"},
		"a wrong class":              {"systray_darwin.m", "[menuItem setTitle:item->title]", "[menuItem setTitle:item->menuId]", "incompatible pointer types"},
		"a function of another name": {"systray_darwin.go", "C.reset_menu()", "C.resetMenu()", "C.resetMenu"},
		"an argument too few":        {"systray_darwin.go", "C.add_separator(C.int(id), C.int(parent))", "C.add_separator(C.int(id))", "not enough arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(systray)))
			if tt.file != "" {
				path := filepath.Join(dir, tt.file)
				text := must.Get(os.ReadFile(path))(t)
				changed := strings.Replace(string(text), tt.old, tt.mistake, 1)
				if changed == string(text) {
					t.Fatalf("%s has no %s", tt.file, tt.old)
				}
				must.Do(t, os.Chmod(path, 0o600))
				must.Do(t, os.WriteFile(path, []byte(changed), 0o600))
			}
			out, err := exec.Command("./typecheck", dir).CombinedOutput()
			if (err == nil) != (tt.file == "") || !strings.Contains(string(out), tt.message) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
