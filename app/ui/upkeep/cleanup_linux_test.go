package upkeep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/owned/launch"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
)

// TestCleanupUsesTheEnvironment: the home folder and the trash are those that the environment names.
func TestCleanupUsesTheEnvironment(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	_, p := open(t, func() []string { return []string{"HOME=" + home, "XDG_DATA_HOME=" + data} })
	id := "l-0a0b0c0d0e"
	logs := filepath.Join(filepath.Dir(p.window.Launches.Folder()), "logs")
	must.Do(t, os.MkdirAll(logs, 0o700))
	file := filepath.Join(logs, id+".log")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	old := uitest.Clock.Add(-launch.Keep)
	must.Do(t, os.Chtimes(file, old, old))
	c, err := p.cleaner(t.Context())
	must.Do(t, err)
	items, err := c.Scan(t.Context())
	if err != nil || len(items) != 1 {
		t.Fatalf("items %v, %v", items, err)
	}
	for _, r := range c.Remove(t.Context(), items) {
		if r.Err != nil || !strings.HasPrefix(r.Where, data) || c.Home != home {
			t.Errorf("home %s, removed to %q, %v; want a trash below %s", c.Home, r.Where, r.Err, data)
		}
	}
}
