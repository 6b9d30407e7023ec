package codex

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// Where the folder of the sessions should be lies something else: the answer says
// so, to whatever question.
func TestMisplacedSessions(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"file":           func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link to a file": func(path string) error { return os.Symlink("/dev/null", path) },
		"link to nowhere": func(path string) error {
			return os.Symlink(filepath.Join(filepath.Dir(path), "nowhere"), path)
		},
	} {
		for _, folder := range []string{"sessions", "archived_sessions"} {
			t.Run(name+" for "+folder, func(t *testing.T) {
				home := home(t)
				a := atNow(home)
				write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
				must.Get(a.Discover(t.Context(), adapters.Query{}))(t)
				path := filepath.Join(home, ".codex", folder)
				must.Do(t, errors.Join(os.RemoveAll(path), put(path)))
				for _, q := range []adapters.Query{{}, {Since: time.Now()}, {Since: time.Now().Add(-time.Hour)}, {IDs: []string{threadA}}} {
					_, err := a.Discover(t.Context(), q)
					if !errors.Is(err, adapters.ErrUnreadable) || strings.Count(err.Error(), path) != 1 {
						t.Errorf("%+v: %v", q, err)
					}
				}
			})
		}
	}
}
