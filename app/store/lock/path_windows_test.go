package lock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestSpellings checks that letter case, slashes and prefix of a path make no difference.
func TestSpellings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Proj")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "Sub"), 0o755))
	w := newWorld(t, 1, 2)
	w.take(t, auto(dir, 1))
	for _, path := range []string{dir, strings.ToUpper(dir), strings.ToLower(dir), filepath.ToSlash(dir), dir + `\`, `\\?\` + dir,
		strings.ToLower(dir) + `\SUB`, dir + `\.\sub\..`} {
		_, err := w.Take(t.Context(), auto(path, 2), false, nil)
		var held *HeldError
		if !errors.As(err, &held) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := w.Take(t.Context(), manual(dir), true, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(t.Context(), strings.ToUpper(dir)); err != nil {
		t.Errorf("unlock: %v", err)
	}
	if real, err := RealPath(strings.ToUpper(dir)); err != nil || filepath.Base(real) != "Proj" {
		t.Errorf("the real path is %s, %v", real, err)
	}
}
