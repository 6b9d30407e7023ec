package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"rollcall/app/store"
	"rollcall/internal/must"
	"rollcall/proc"
)

const roleVariable = "ROLLCALL_LOCK_TEST"

// TestMain re-executes the binary to lock a folder. It prints whether that succeeded, and waits for the end of its input.
func TestMain(m *testing.M) {
	if dir := os.Getenv(roleVariable); dir != "" {
		os.Exit(takeOnce(dir, os.Args[1]))
	}
	goleak.VerifyTestMain(m)
}

func takeOnce(state, path string) int {
	table := proc.Open()
	_, err := In(store.In(state), table).Take(context.Background(),
		Lock{Path: path, Kind: Auto, Owner: proc.Self(), Launch: fmt.Sprint(os.Getpid()), Agent: "claude-code"}, false, nil)
	var held *HeldError
	switch {
	case err == nil:
		fmt.Println("took it")
	case errors.As(err, &held):
		fmt.Println("held")
	default:
		fmt.Println(err)
		return 1
	}
	_, _ = fmt.Scanln() // keeps the owner running until all have tried
	return 0
}

func pid(n int) proc.Identity { return proc.Identity{PID: n, Start: uint64(n) * 10, Boot: "b"} }

// world is a set of locks with processes that the test starts and ends.
type world struct {
	*Locks
	mu    sync.Mutex
	lives map[proc.Identity]bool
	cwds  map[proc.Identity]string
}

func (w *world) Alive(id proc.Identity) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lives[id]
}

func (w *world) CWD(id proc.Identity) (string, error) {
	if w.cwds[id] == "" {
		return "", fs.ErrNotExist
	}
	return w.cwds[id], nil
}

func newWorld(t *testing.T, lives ...int) *world {
	t.Helper()
	w := &world{lives: map[proc.Identity]bool{}, cwds: map[proc.Identity]string{}}
	for _, n := range lives {
		w.lives[pid(n)] = true
	}
	w.Locks = In(store.In(filepath.Join(t.TempDir(), "locks")), w)
	return w
}

func (w *world) die(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lives, pid(n))
}

func auto(path string, n int) Lock {
	return Lock{Path: path, Kind: Auto, Owner: pid(n), Launch: fmt.Sprintf("l%d", n), Agent: "codex"}
}

func manual(path string) Lock {
	return Lock{Path: path, Kind: Manual, By: "ann", Reason: "release"}
}

func folder(t *testing.T, base string, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{base}, parts...)...)
	must.Do(t, os.MkdirAll(path, 0o755))
	return path
}

func (w *world) take(t *testing.T, k Lock) Lock {
	t.Helper()
	got := must.Get(w.Take(t.Context(), k, false, nil))(t)
	return got
}

func TestOverlaps(t *testing.T) {
	base := must.Get(RealPath(t.TempDir()))(t)
	proj := folder(t, base, "proj")
	child := folder(t, base, "proj", "cmd", "x")
	other := folder(t, base, "project")
	link := filepath.Join(base, "link")
	if err := os.Symlink(proj, link); err != nil {
		t.Skipf("symbolic links are not permitted here: %v", err)
	}
	inLink := filepath.Join(link, "cmd")
	for name, c := range map[string]struct {
		path    string
		refused bool
	}{
		"itself": {proj, true}, "a child": {child, true}, "the parent": {base, true}, "a symbolic link": {link, true},
		"through a symbolic link": {inLink, true}, "not cleaned": {proj + "/./cmd/..", true}, "a name that begins alike": {other, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.take(t, auto(proj, 1))
			_, err := w.Take(t.Context(), auto(c.path, 2), false, nil)
			var held *HeldError
			if errors.As(err, &held) != c.refused {
				t.Fatalf("%v; refused should be %t", err, c.refused)
			}
			if !c.refused {
				return
			}
			if held.By.Path != proj || !strings.Contains(err.Error(), "a launch of codex, process 1") {
				t.Errorf("the error does not name the owner: %v", err)
			}
			if _, err := w.Take(t.Context(), auto(c.path, 2), true, nil); err != nil {
				t.Errorf("forced: %v", err)
			}
			if list, err := w.List(); err != nil || len(list) != 2 {
				t.Errorf("locks %v, %v; want both", list, err)
			}
			must.Do(t, w.Release(t.Context(), "l2"))
			if list, _ := w.List(); len(list) != 1 || list[0].Launch != "l1" {
				t.Errorf("releasing the forced lock removed the other one: %v", list)
			}
		})
	}
}

func TestDeadOwnerHoldsNothing(t *testing.T) {
	w := newWorld(t, 1, 2)
	dir := t.TempDir()
	w.take(t, auto(dir, 1))
	w.die(1)
	if list, err := w.List(); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	w.take(t, auto(dir, 2))
	gone, err := w.Sweep(t.Context())
	if err != nil || len(gone) != 1 || gone[0].Launch != "l1" {
		t.Errorf("swept %v, %v", gone, err)
	}
	if list, _ := w.List(); len(list) != 1 || list[0].Launch != "l2" {
		t.Errorf("left %v", list)
	}
}

func TestHandOver(t *testing.T) {
	w := newWorld(t, 1, 2)
	k := w.take(t, auto(t.TempDir(), 1))
	k = must.Get(w.HandOver(t.Context(), k, pid(2), "session-1"))(t)
	w.die(1) // Rollcall itself, or a wrapper
	list, err := w.List()
	if err != nil || len(list) != 1 || list[0].Owner != pid(2) || list[0].Session != "session-1" {
		t.Errorf("%+v, %v", list, err)
	}
	w.die(2)
	if list, _ := w.List(); len(list) != 0 {
		t.Errorf("the lock outlived its owner: %+v", list)
	}
	_ = k
}

func TestManual(t *testing.T) {
	w := newWorld(t, 1)
	dir := t.TempDir()
	w.take(t, manual(dir))
	for name, k := range map[string]Lock{"a launch": auto(dir, 1), "another by hand": manual(dir)} {
		_, err := w.Take(t.Context(), k, false, nil)
		var held *HeldError
		if !errors.As(err, &held) || !strings.Contains(err.Error(), "ann (release)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Take(t.Context(), manual(dir), true, nil); err == nil {
		t.Error("a second manual lock was forced")
	}
	if gone, err := w.Sweep(t.Context()); len(gone) != 0 || err != nil {
		t.Errorf("swept %v, %v", gone, err)
	}
	if err := w.Unlock(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if err := w.Unlock(t.Context(), dir); !errors.Is(err, ErrNotLocked) {
		t.Errorf("again: %v", err)
	}
	w.take(t, auto(dir, 1))
	if err := w.Unlock(t.Context(), dir); !errors.Is(err, ErrNotLocked) {
		t.Errorf("a launch's lock was removed by hand: %v", err)
	}
}

// TestUnlockOfGoneFolder checks that a folder that was removed can be unlocked.
func TestUnlockOfGoneFolder(t *testing.T) {
	w := newWorld(t)
	dir := must.Get(RealPath(folder(t, t.TempDir(), "x")))(t)
	w.take(t, manual(dir))
	must.Do(t, os.Remove(dir))
	if err := w.Unlock(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := w.Take(t.Context(), manual(dir), false, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock of a folder that isn't there: %v", err)
	}
}

func TestCheckRefuses(t *testing.T) {
	w := newWorld(t, 1)
	why := errors.New("occupied")
	if _, err := w.Take(t.Context(), auto(t.TempDir(), 1), false, func(string) error { return why }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if list, err := w.List(); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestUnreadableLockRefuses(t *testing.T) {
	w := newWorld(t, 1)
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(w.Folder(), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(w.Folder(), "x.json"), []byte("{"), 0o600))
	if _, err := w.Take(t.Context(), auto(dir, 1), false, nil); err == nil || !strings.Contains(err.Error(), "x.json") {
		t.Errorf("%v", err)
	}
	w.take(t, auto(dir, 1)) // the damaged lock was set aside
}

// TestTwoProcesses checks that of two processes that lock a folder at once, one through a symbolic link, exactly one
// succeeds.
func TestTwoProcesses(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 10
	}
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("symbolic links are not permitted here: %v", err)
	}
	state := filepath.Join(t.TempDir(), "locks")
	for range rounds {
		var said []string
		var children []*contender
		for _, path := range []string{dir, link} {
			children = append(children, contend(t, state, path))
		}
		for _, c := range children {
			said = append(said, c.says(t))
		}
		for _, c := range children {
			c.end(t)
		}
		if s := strings.Join(said, ", "); s != "took it, held" && s != "held, took it" {
			t.Fatalf("the processes answered %q", s)
		}
	}
	table := proc.Open()
	if gone, err := In(store.In(state), table).Sweep(t.Context()); err != nil || len(gone) != rounds {
		t.Errorf("%d dead locks, %v", len(gone), err)
	}
	if names, _ := store.In(state).Names(); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

type contender struct {
	cmd *exec.Cmd
	in  interface{ Close() error }
	out interface{ Read([]byte) (int, error) }
}

func contend(t *testing.T, state, path string) *contender {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), roleVariable+"="+state, "GORACE=atexit_sleep_ms=0")
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	return &contender{cmd, in, out}
}

func (c *contender) says(t *testing.T) string {
	t.Helper()
	buffer := make([]byte, 200)
	n := must.Get(c.out.Read(buffer))(t)
	return strings.TrimSpace(string(buffer[:n]))
}

func (c *contender) end(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestUnlockOfLaunchElsewhere: the lock of a launch in a container that is gone never ends by itself, and the user can remove it. That of a
// launch of this machine stays.
func TestUnlockOfLaunchElsewhere(t *testing.T) {
	w := newWorld(t, 2)
	gone, here := t.TempDir(), t.TempDir()
	for _, k := range []Lock{auto(gone, 1), auto(here, 2)} {
		k.Host, k.Space = proc.Host(), proc.Space()
		if k.Path == gone {
			k.Host, k.Space = "another-container", "another-space"
		}
		if _, err := w.Take(t.Context(), k, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	if swept, err := w.Sweep(t.Context()); len(swept) != 0 || err != nil {
		t.Fatalf("%+v, %v", swept, err)
	}
	list, err := w.List()
	if i := slices.IndexFunc(list, func(k Lock) bool { return k.Launch == "l1" }); err != nil || i < 0 || list[i].Holder() != "a launch of codex, process 1 on another-container" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := w.Unlock(t.Context(), gone); err != nil {
		t.Error(err)
	}
	if err := w.Unlock(t.Context(), here); !errors.Is(err, ErrNotLocked) {
		t.Error(err)
	}
	if list, err := w.List(); err != nil || len(list) != 1 || list[0].Launch != "l2" {
		t.Errorf("%+v, %v", list, err)
	}
}
