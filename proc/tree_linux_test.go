package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// statLine is the contents of a made-up /proc/PID/stat.
func statLine(pid int, comm string, state byte, start uint64) string {
	return fmt.Sprintf("%d (%s) %c 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, comm, state, start)
}

func writeTree(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func link(t testing.TB, root string, links map[string]string) {
	t.Helper()
	for name, target := range links {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.Symlink(target, path))
	}
}

func TestDamagedTree(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"1/stat":   statLine(1, "init", 'S', 5),
		"2/stat":   statLine(2, "Web Content) R 9 (\n", 'R', 6),
		"3/stat":   statLine(3, "zombie", 'Z', 7),
		"4/stat":   statLine(4, "vanishing", 'X', 7),
		"5/comm":   "no stat\n",
		"66/stat":  "66 (cut sho",
		"77/stat":  strings.Repeat("x", 1<<20),
		"8x/stat":  "no pid",
		"99":       "a file",
		"sys/stat": "no pid either",
	})
	link(t, root, map[string]string{"9/stat": "../9/stat", "11": "11"})
	writeTree(t, root, map[string]string{"10/comm": "a pipe to which nobody writes"})
	must.Do(t, unix.Mkfifo(root+"/10/stat", 0o644))
	table := OpenAt(root, root)
	rows, err := table.List(t.Context())
	names := make(map[string]int)
	for _, p := range rows {
		names[p.Comm] = p.PID
	}
	if len(rows) != 2 || names["init"] != 1 || names["Web Content) R 9 (\n"] != 2 {
		t.Errorf("rows %+v, want those of 1 and 2", rows)
	}
	for _, bad := range []string{"/66/stat", "/77/stat", "/9/stat", "/10/stat"} {
		if err == nil || !strings.Contains(err.Error(), root+bad) {
			t.Errorf("the error doesn't name %s: %v", bad, err)
		}
	}
	if _, err := table.Find(66); errors.Is(err, ErrGone) || !errors.Is(err, errStat) {
		t.Errorf("Find of a damaged one: %v", err)
	}
	if !table.Alive(Identity{PID: 66, Start: 1}) {
		t.Error("what can't be told is called dead")
	}
	if got := table.Domain(); got != "" {
		t.Errorf("domain %q of a tree without one", got)
	}
}

func TestMadeUpDetails(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"1/stat":    statLine(1, "pi", 'S', 5),
		"1/cmdline": "pi\x00\x00\x00\x00\x00",
		"1/environ": "A=1\x00B=x=y\nz\x00",
		"1/fd/0":    "a file where a link should be",
	})
	link(t, root, map[string]string{
		"1/cwd": "/gone folder (deleted)", "1/exe": "/bin/replaced (deleted)",
		"1/fd/3": "/kept\nfile", "1/fd/4": "/kept\nfile", "1/fd/5": "/removed (deleted)",
		"1/fd/6": "/dev/null", "1/fd/7": "pipe:[123]", "1/fd/8": "/memfd:x (deleted)", "1/fd/9": "socket:[5]",
	})
	table, id := OpenAt(root, root), Identity{PID: 1, Start: 5}
	check := func(what string, got any, err error, want string) {
		t.Helper()
		if err != nil || fmt.Sprintf("%q", got) != want {
			t.Errorf("%s: %q, %v; want %s", what, got, err, want)
		}
	}
	args, err := table.Args(id)
	check("args", args, err, `["pi"]`)
	env, err := table.Env(id)
	check("env", env, err, `["A=1" "B=x=y\nz"]`)
	cwd, err := table.CWD(id)
	check("cwd", cwd, err, `"/gone folder"`)
	exe, err := table.Exe(id)
	check("exe", exe, err, `"/bin/replaced"`)
	files, err := table.OpenFiles(id)
	check("files", files, err, `["/kept\nfile"]`)
	removed, err := table.RemovedFiles(id)
	check("removed files", removed, err, fmt.Sprintf(`map["/removed":%q]`, root+"/1/fd/5"))
}

func TestHugeEnvironment(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"1/stat": statLine(1, "it", 'S', 5), "1/environ": "A=" + strings.Repeat("x", 1<<20) + "\x00"})
	must.Do(t, os.WriteFile(root+"/1/cmdline", nil, 0o644))
	must.Do(t, os.Truncate(root+"/1/cmdline", 2<<30))
	table, id := OpenAt(root, root), Identity{PID: 1, Start: 5}
	if env, err := table.Env(id); err != nil || len(env) != 1 || len(env[0]) != 2+1<<20 {
		t.Errorf("1 MiB of environment: %d entries, %v", len(env), err)
	}
	if _, err := table.Args(id); err == nil || !strings.Contains(err.Error(), "1/cmdline: longer than") {
		t.Errorf("2 GiB of arguments: %v", err)
	}
}

func TestCanceledList(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenAt("/proc", "/etc").List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// BenchmarkList reads a made-up tree of 3,000 processes, each answer anew.
func BenchmarkList(b *testing.B) {
	root := b.TempDir()
	for pid := 1; pid <= 3000; pid++ {
		writeTree(b, root, map[string]string{fmt.Sprintf("%d/stat", pid): statLine(pid, "some process", 'S', uint64(pid))})
	}
	table := OpenAt(root, root)
	b.ReportAllocs()
	for b.Loop() {
		if rows, err := table.List(b.Context()); err != nil || len(rows) != 3000 {
			b.Fatal(len(rows), err)
		}
	}
}

// BenchmarkListOwn reads the table of this machine.
func BenchmarkListOwn(b *testing.B) {
	table := OpenAt("/proc", "/etc")
	var rows []Process
	for b.Loop() {
		rows = must.Get(table.List(b.Context()))(b)
	}
	b.ReportMetric(float64(len(rows)), "processes")
}

func BenchmarkAlive(b *testing.B) {
	table, id := OpenAt("/proc", "/etc"), Self()
	for b.Loop() {
		if !table.Alive(id) {
			b.Fatal("not alive")
		}
	}
}
