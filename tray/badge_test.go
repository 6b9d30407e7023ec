//go:build linux

package tray

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"rollcall/assets"
)

// TestIconHasTheNumber: the icon shows how many wait, in its own way for each number up to 9, and only if one waits.
func TestIconHasTheNumber(t *testing.T) {
	seen := map[string]int{}
	for n := 0; n <= 12; n++ {
		icon, err := iconOf(assets.NeedsYou, n)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(bytes.NewReader(icon)); err != nil || img.Bounds().Dx() != 48 {
			t.Fatalf("%d: %v", n, err)
		}
		if before, ok := seen[string(icon)]; ok != (n > 10) || ok && before != 10 {
			t.Errorf("the icon for %d is that for %d", n, before)
		}
		if _, ok := seen[string(icon)]; !ok {
			seen[string(icon)] = n
		}
		dir := filepath.Join("..", "build", "shots")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("badge-%d.png", n)), icon, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if icon, err := iconOf(assets.Working, 3); err != nil || !bytes.Equal(icon, assets.Icon(assets.Working)) {
		t.Errorf("an icon of another state has a number, or %v", err)
	}
}
