package factcache

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/testfs"
)

// On a full disk nothing is lost and nothing is left behind.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	dir := filepath.Join(disk.Path, "facts")
	fill(t, dir, 3)
	free := disk.KeepFull(t)
	for range 20 {
		c, _ := in(dir)
		facts := Of[value](c, testName, 1)
		v := sample()
		v.raw = make([]byte, 64<<10)
		facts.Store("/large", &v, 1)
		facts.Flush(true)
		if found, log := check(t, dir, 3); found != 3 || log != "" {
			t.Fatalf("%d values, want 3; %s", found, log)
		}
	}
	free()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v, want one file", entries, err)
	}
}
