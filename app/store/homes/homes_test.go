package homes

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rollcall/internal/must"
)

// What several processes save at once is all there; what is older than a day is not.
func TestHomes(t *testing.T) {
	state := filepath.Join(t.TempDir(), "rollcall")
	now := time.Now().Round(0)
	if got := In(state, slog.Default()).Load("codex"); len(got) != 0 {
		t.Errorf("%v before anything was saved", got)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("reading made the folder")
	}
	var saving sync.WaitGroup
	for i := range 5 {
		saving.Go(func() { In(state, slog.Default()).Save("codex", map[string]time.Time{fmt.Sprint("/home/", i): now}) })
	}
	saving.Wait()
	In(state, slog.Default()).Save("pi", map[string]time.Time{"/old": now.Add(-25 * time.Hour)})
	In(state, slog.Default()).Save("codex", map[string]time.Time{"/home/0": now.Add(-time.Hour)})
	got := In(state, slog.Default()).Load("codex")
	if len(got) != 5 || !got["/home/0"].Equal(now) || len(In(state, slog.Default()).Load("pi")) != 0 {
		t.Errorf("%v", got)
	}
}

// A file that can't be understood is set aside, and said once.
func TestDamaged(t *testing.T) {
	state := filepath.Join(t.TempDir(), "rollcall")
	var said bytes.Buffer
	h := In(state, slog.New(slog.NewTextHandler(&said, nil)))
	now := time.Now()
	h.Save("codex", map[string]time.Time{"/a": now})
	must.Do(t, os.WriteFile(h.folder.File(name), []byte("{"), 0o600))
	h.Save("codex", map[string]time.Time{"/b": now})
	if got := maps.Collect(maps.All(h.Load("codex"))); len(got) != 1 || got["/b"].IsZero() || bytes.Count(said.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%v; said %s", got, said.String())
	}
}
