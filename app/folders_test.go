package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
)

// TestWatchLimit: in a user namespace that may watch two folders only, the third
// is a visible problem and the list still right.
func TestWatchLimit(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE=limit", "ROLLCALL_TEST_DIR="+t.TempDir())
	if err := inUserNamespace(cmd); err != nil {
		t.Skip(err)
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "not permitted") || errors.Is(err, fs.ErrPermission) {
		skipOrFail(t, "user namespaces are not permitted: "+string(out))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "max_user_watches") || !strings.Contains(string(out), "state ok") {
		t.Errorf("health says %s", out)
	}
}

func skipOrFail(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// playLimit is the child of TestWatchLimit.
func playLimit() int {
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("1"), 0); err != nil {
		fmt.Println(err)
		return 1
	}
	r := &twoFolders{roster{dir: os.Getenv("ROLLCALL_TEST_DIR")}}
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o700); err != nil {
		fmt.Println(err)
		return 1
	}
	c := New(Config{Adapters: []adapters.Adapter{r}})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	go func() { _ = c.Run(ctx) }()
	for ctx.Err() == nil && len(c.Snapshot().Adapters[0].Problems) == 0 {
		time.Sleep(time.Millisecond)
	}
	h := c.Snapshot().Adapters[0]
	fmt.Println("state", h.State, h.Problems)
	return 0
}

type twoFolders struct{ roster }

func (r *twoFolders) WatchPaths() []string { return []string{r.dir, filepath.Join(r.dir, "sub")} }

func TestAwaited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		filepath.Join(dir, "a"):              {dir, "a"},
		filepath.Join(dir, "a", "b", "c"):    {dir, "a"},
		filepath.Join(dir, "x", "..", "new"): {dir, "new"},
		file:                                 {},
		dir:                                  {},
		"relative/path":                      {},
		"ws://127.0.0.1:1":                   {},
	} {
		if parent, name := awaited(path); parent != want[0] || name != want[1] {
			t.Errorf("awaited(%s) = %q, %q", path, parent, name)
		}
	}
}

// TestForeignChangesAreIgnored: in a parent folder only the awaited entry counts.
func TestForeignChangesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	f, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	s := &source{}
	if added, limits := f.sync(s, &places{lookedIn: []string{filepath.Join(dir, ".codex", "sessions")}}); !added || limits != nil {
		t.Fatalf("added %v, limits %v", added, limits)
	}
	if added, _ := f.sync(s, &places{lookedIn: []string{filepath.Join(dir, ".codex", "sessions")}}); added {
		t.Error("the same places are news")
	}
	for e, want := range map[fsnotify.Event]int{
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Write}:  0,
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Create}: 0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Chmod}:         0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Create}:        1,
	} {
		if got := len(f.touched(e)); got != want {
			t.Errorf("%v touches %d sources", e, got)
		}
	}
	if _, _ = f.sync(s, &places{}); len(f.watched) != 0 || len(f.notify.WatchList()) != 0 {
		t.Errorf("still watched: %v", f.notify.WatchList())
	}
}
