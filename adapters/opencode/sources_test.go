package opencode

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// slowRecord takes an hour to be parsed.
type slowRecord struct{}

func (*slowRecord) UnmarshalJSON([]byte) error {
	time.Sleep(time.Until(realNow) + time.Hour)
	return nil
}

// realNow is the time outside of the test's clock: file systems take their times from it.
var realNow = time.Now()

// A file that was written right before it was read is read again, however long it took to parse:
// another write may have given it the same times.
func TestStampBeforeContents(t *testing.T) {
	storage := t.TempDir()
	path := filepath.Join(storage, "part.json")
	if err := os.WriteFile(path, []byte(`{"state":{"status":"running"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var s sources
		_, stamp, err := readRecord(path, &slowRecord{})
		s.note(storage, path, stamp)
		if err != nil || !stamp.Fresh || s.areUnchanged(storage) {
			t.Errorf("%+v counts as unchanged (%v)", stamp, err)
		}
	})
}
