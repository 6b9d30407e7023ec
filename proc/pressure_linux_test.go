package proc

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

func TestPressure(t *testing.T) {
	for content, want := range map[string]float64{
		"some avg10=37.50 avg60=1.00 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n": 0.375,
		"some avg10=100.00 avg60=1.00 avg300=0.00 total=123\n":                                                1,
		"some avg10=250 avg60=1.00 avg300=0.00 total=123\n":                                                   1,
		"some avg10=-3 avg60=1.00\n":                                                                          0,
		"some avg10=NaN avg60=1.00\n":                                                                         0,
		"full avg10=3 avg60=1.00\n":                                                                           0,
		"":                                                                                                    0,
	} {
		root := t.TempDir()
		must.Do(t, os.MkdirAll(filepath.Join(root, "pressure"), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(root, "pressure/cpu"), []byte(content), 0o644))
		if got := (&Table{root: root}).Pressure(); got != want {
			t.Errorf("%q: %v, want %v", content, got, want)
		}
	}
	if got := (&Table{root: t.TempDir()}).Pressure(); got != 0 {
		t.Errorf("without the file: %v", got)
	}
}
