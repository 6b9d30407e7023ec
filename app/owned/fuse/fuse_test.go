package fuse

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

const stateVariable = "ROLLCALL_FUSE_TEST_STATE"

// TestMain re-executes the binary as a keeper of the fuses in a folder, until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(stateVariable); dir != "" {
		k := NewKeeper(In(store.In(dir)), slog.New(slog.DiscardHandler), nil)
		k.Continue = func(ctx context.Context, c Continue) (string, error) { // says that it began, and hangs
			if err := os.WriteFile(c.Prompt, nil, 0o600); err != nil {
				return "", err
			}
			<-ctx.Done()
			return "", ctx.Err()
		}
		if session := os.Getenv(sessionVariable); session != "" {
			k.Continue, k.fuses.now = storedSession(session).prompt, storedSession(session).now
		}
		_ = k.RunUntil(context.Background(), context.Background())
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// bench is a set of fuses with a clock that the test moves.
type bench struct {
	*Fuses
	t   *testing.T
	mu  sync.Mutex
	off time.Duration
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Fuses: In(store.In(filepath.Join(t.TempDir(), "fuses"))), t: t}
	b.now = func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return time.Now().Add(b.off)
	}
	return b
}

func (b *bench) later(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off += d
}

func (b *bench) set(x Fuse, d time.Duration) Fuse {
	b.t.Helper()
	got := must.Get(b.Set(b.t.Context(), x, d))(b.t)
	return got
}

func (b *bench) only() Fuse {
	b.t.Helper()
	list, err := b.List()
	if err != nil || len(list) != 1 {
		b.t.Fatalf("fuses %+v, %v", list, err)
	}
	return list[0]
}

// keep runs a keeper until the test ends, or the returned function is called.
func (b *bench) keep(fired func(Fuse)) (stop func()) {
	b.t.Helper()
	k := NewKeeper(b.Fuses, slog.New(slog.DiscardHandler), fired)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.RunUntil(ctx, ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
		k.client.CloseIdleConnections()
	})
	b.t.Cleanup(stop)
	return stop
}

func TestSetExtendCancel(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	first := b.set(Fuse{Path: dir, Note: "mine", Script: "true"}, time.Hour)
	if _, err := b.Set(t.Context(), Fuse{Path: dir}, time.Minute); !errors.Is(err, ErrExists) {
		t.Errorf("a second fuse: %v, want ErrExists", err)
	}
	if x := b.only(); x.Note != "mine" || !x.Expires.Equal(first.Expires) {
		t.Errorf("the first fuse was overwritten: %+v", x)
	}
	x, err := b.Extend(t.Context(), dir, 30*time.Minute)
	if err != nil || x.Expires.Sub(first.Expires) != 30*time.Minute {
		t.Errorf("extended to %s, %v", x.Expires, err)
	}
	if _, err := b.Extend(t.Context(), dir, Most); err == nil {
		t.Errorf("a fuse was extended beyond %s", Most)
	}
	if x, err := b.Cancel(t.Context(), dir); err != nil || x.Note != "mine" {
		t.Errorf("cancelled %+v, %v", x, err)
	}
	for name, err := range map[string]error{
		"cancel": second(b.Cancel(t.Context(), dir)), "extend": second(b.Extend(t.Context(), dir, time.Hour)),
	} {
		if !errors.Is(err, ErrNone) {
			t.Errorf("%s without a fuse: %v, want ErrNone", name, err)
		}
	}
	if _, err := b.Set(t.Context(), Fuse{Path: filepath.Join(dir, "none")}, time.Hour); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a fuse for a missing folder: %v", err)
	}
	for _, d := range []time.Duration{0, -time.Second, Most + 1} {
		if _, err := b.Set(t.Context(), Fuse{Path: dir}, d); err == nil {
			t.Errorf("a fuse was set to %s", d)
		}
	}
	if _, err := b.Set(t.Context(), Fuse{Path: dir, Webhook: "file:///etc/passwd"}, time.Hour); err == nil {
		t.Error("a fuse accepted a file as its webhook")
	}
	for _, bad := range []string{"a b", "-x", "a\nb", strings.Repeat("x", 101), "ü"} {
		if _, err := b.Set(t.Context(), Fuse{Path: dir, Script: "true", Event: bad}, time.Hour); err == nil {
			t.Errorf("the event %q was accepted", bad)
		}
	}
}

func second(_ Fuse, err error) error { return err }

func TestFires(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of a POSIX shell")
	}
	var mu sync.Mutex
	var posted []map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v map[string]any
		_ = json.NewDecoder(r.Body).Decode(&v)
		mu.Lock()
		posted = append(posted, v)
		mu.Unlock()
	}))
	defer server.Close()
	b := newBench(t)
	dir := t.TempDir()
	fired := make(chan Fuse, 10)
	b.keep(func(x Fuse) { fired <- x })
	b.set(Fuse{Path: dir, Note: "the cluster", Event: "cluster.down", Webhook: server.URL,
		Script: `echo "$ROLLCALL_CWD|$ROLLCALL_FUSE_NOTE|$ROLLCALL_FUSE_EVENT|$PWD" > "$ROLLCALL_CWD/fired"; echo done`}, 50*time.Millisecond)
	x := <-fired
	if !slices.Equal(x.Results, []string{"script: exit 0", "webhook: delivered"}) || x.Outcome != Succeeded || x.Output != "done\n" {
		t.Errorf("results %q, output %q", x.Results, x.Output)
	}
	if said, err := os.ReadFile(filepath.Join(dir, "fired")); string(said) != x.Path+"|the cluster|cluster.down|"+filepath.Dir(b.Folder())+"\n" || err != nil {
		t.Errorf("the script wrote %q, %v", said, err)
	}
	mu.Lock()
	if len(posted) != 1 || posted[0]["hook_type"] != "fuse.fired" || posted[0]["cwd"] != x.Path || posted[0]["event"] != "cluster.down" {
		t.Errorf("posted %v", posted)
	}
	mu.Unlock()
	if y := b.only(); !y.Fired() || len(y.Results) != 2 {
		t.Errorf("the stored fuse is %+v", y)
	}
	b.set(Fuse{Path: dir, Note: "again"}, time.Hour)
	if y := b.only(); y.Fired() || y.Note != "again" {
		t.Errorf("a new fuse did not replace the fired one: %+v", y)
	}
}

// TestOverdueFiresOnce checks that overdue fuses fire at the start of a keeper, and once, even with three keepers.
func TestOverdueFiresOnce(t *testing.T) {
	b := newBench(t)
	var dirs []string
	for range 20 {
		dir := t.TempDir()
		dirs = append(dirs, dir)
		b.set(Fuse{Path: dir}, time.Minute)
	}
	b.later(time.Hour)
	fired := make(chan string, 100)
	var stops []func()
	for range 3 {
		stops = append(stops, b.keep(func(x Fuse) { fired <- x.Path }))
	}
	seen := map[string]int{}
	for range dirs {
		seen[<-fired]++
	}
	for _, stop := range stops {
		stop() // waits for what still fires
	}
	if len(fired) > 0 || len(seen) != len(dirs) {
		t.Errorf("%d of %d fuses fired, %d more than once", len(seen), len(dirs), len(fired))
	}
}

func TestFiredOnesGo(t *testing.T) {
	b := newBench(t)
	b.set(Fuse{Path: t.TempDir()}, time.Millisecond)
	fired := make(chan Fuse, 1)
	stop := b.keep(func(x Fuse) { fired <- x })
	<-fired
	stop()
	b.later(Keep)
	b.keep(nil)
	eventually.True(b.t, "its removal", func() bool { list, _ := b.List(); return len(list) == 0 })
}

func TestWebhookThatFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	moved := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusFound))
	defer moved.Close()
	for address, says := range map[string]string{server.URL: "418", gone.URL + "/?token=secret": "refused", moved.URL: "302 Found, which is not followed"} {
		b := newBench(t)
		fired := make(chan Fuse, 1)
		b.keep(func(x Fuse) { fired <- x })
		b.set(Fuse{Path: t.TempDir(), Webhook: address}, time.Millisecond)
		x := <-fired
		if len(x.Results) != 1 || x.Outcome != Failed || !strings.Contains(x.Results[0], says) || strings.Contains(x.Results[0], "secret") {
			t.Errorf("%s: %v", address, x.Results)
		}
	}
	server.Close()
}
