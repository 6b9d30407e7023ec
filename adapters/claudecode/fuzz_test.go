package claudecode

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// FuzzEntry: whatever a registry file holds, an entry that is taken from it has
// the pid of its name and an id that can't be a path.
func FuzzEntry(f *testing.F) {
	paths, err := filepath.Glob("testdata/recordings/claude-*/home/.claude/sessions/*.json")
	if err != nil || len(paths) < 6 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must.Do(f, err)
		f.Add(content, 18063)
	}
	f.Add([]byte(`{"pid":5,"sessionId":"00000001-0000-4000-8000-000000000000","startedAt":1e300,"procStart":5}`), 5)
	f.Fuzz(func(t *testing.T, data []byte, pid int) {
		e, err := parseEntry(data, pid)
		if err != nil {
			return
		}
		if e.pid != pid || !kit.Is(e.id) || filepath.Base(e.id) != e.id {
			t.Errorf("%+v", e)
		}
		if !utf8.ValidString(e.cwd+e.name+e.status+e.waitingFor) || len(e.cwd) > textLimit {
			t.Errorf("%+v", e)
		}
	})
}
