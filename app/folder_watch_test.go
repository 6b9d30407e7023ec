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
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/eventually"
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
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Limit)
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

// lateRoster is a roster that answers its first question when the test lets it.
type lateRoster struct {
	roster
	once          sync.Once
	asked, answer chan struct{}
}

func (l *lateRoster) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	l.once.Do(func() {
		close(l.asked)
		<-l.answer
	})
	return l.roster.Discover(ctx, q)
}

// A question that began before Run does not stand in for Run's first one: its
// answer says nothing of the folders to watch.
func TestAskedBeforeRun(t *testing.T) {
	a := &lateRoster{roster: roster{dir: t.TempDir()}, asked: make(chan struct{}), answer: make(chan struct{})}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running.Go(func() { c.Refresh(ctx) })
	<-a.asked
	running.Go(func() { _ = c.Run(ctx) })
	eventually.True(t, "Run takes part in the question", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		s := c.sources[0]
		return c.running && s.flight != nil && (s.flight.waiting == 2 || s.asking == 2)
	})
	close(a.answer)
	eventually.True(t, "the first answer", func() bool { s := c.Snapshot(); return !s.Refreshing && s.Adapters[0].State == OK })
	a.write(t, "new", entry{Status: adapters.Idle})
	eventually.True(t, "the new session", func() bool { return len(c.Snapshot().Sessions()) == 1 })
}
