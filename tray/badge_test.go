//go:build linux

package tray

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"rollcall/assets"
	"rollcall/internal/must"
)

// TestIconHasTheNumber: the icon shows how many wait, in its own way for each number up to 9, and only if one waits.
func TestIconHasTheNumber(t *testing.T) {
	for _, size := range assets.Sizes {
		seen := map[string]int{}
		for n := 0; n <= 12; n++ {
			icon, err := iconOf(assets.NeedsYou, n, size)
			if err != nil || icon.Bounds() != image.Rect(0, 0, size, size) {
				t.Fatalf("%d in %d pixels: %v, %v", n, size, icon.Bounds(), err)
			}
			look := string(icon.Pix)
			if before, ok := seen[look]; ok != (n > 10) || ok && before != 10 {
				t.Errorf("the icon for %d is that for %d, in %d pixels", n, before, size)
			}
			if _, ok := seen[look]; !ok {
				seen[look] = n
			}
			var b bytes.Buffer
			dir := filepath.Join("..", "build", "shots")
			must.Do(t, png.Encode(&b, icon))
			must.Do(t, os.MkdirAll(dir, 0o755))
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("badge-%d-%d.png", n, size)), b.Bytes(), 0o600))
		}
		with, err := iconOf(assets.Working, 3, size)
		without, err2 := iconOf(assets.Working, 0, size)
		if err != nil || err2 != nil || !bytes.Equal(with.Pix, without.Pix) {
			t.Errorf("an icon of another state has a number, or %v, %v", err, err2)
		}
	}
}
