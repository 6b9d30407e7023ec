package agentfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// readTo opens the file and records that it was read up to next, if next is not 0. It reports whether the file had
// grown since the last read.
func readTo(t *testing.T, f *File, next int64) bool {
	t.Helper()
	file, err := os.Open(f.Path)
	must.Do(t, err)
	defer file.Close()
	info, err := file.Stat()
	must.Do(t, err)
	f.Begin(file, info)
	grown := f.HasGrown(file)
	f.Next = max(f.Next, next)
	if next > 0 {
		must.Get(f.Finish(file, info, 0))(t)
	}
	return grown
}

// TestHasGrown: reading continues only in a file whose beginning and end are those that were read. A transcript that
// was written again in place, or that got the inode of a removed one, may end with the same lines as the old one.
func TestHasGrown(t *testing.T) {
	same := strings.Repeat("the same line\n", 1000)
	for what, c := range map[string]struct {
		text string
		want bool
	}{
		"appended":                          {"first\n" + same + "more\n", true},
		"another beginning":                 {"other\n" + same + "more\n", false},
		"another line before the known end": {"first\n" + same[:len(same)-5] + "LINE\n" + "more\n", false},
		"unchanged length":                  {"first\n" + same, false},
	} {
		t.Run(what, func(t *testing.T) {
			f := NewFile(filepath.Join(t.TempDir(), "transcript"))
			text := "first\n" + same
			must.Do(t, os.WriteFile(f.Path, []byte(text), 0o600))
			readTo(t, &f, int64(len(text)))
			if err := os.WriteFile(f.Path, []byte(c.text), 0o600); err != nil { // in place: the same inode
				t.Fatal(err)
			}
			if got := readTo(t, &f, 0); got != c.want {
				t.Errorf("HasGrown = %v, want %v", got, c.want)
			}
		})
	}
}
