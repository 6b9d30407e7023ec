package cleanup

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/app/owned/cleanup/trash"
	"rollcall/internal/must"
	"rollcall/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is this machine's with the rows of the test's own processes only.
type table struct {
	*proc.Table
	pids []int
}

func (t *table) List(context.Context) ([]proc.Process, error) {
	var rows []proc.Process
	for _, pid := range t.pids {
		if p, err := t.Find(pid); err == nil {
			rows = append(rows, p)
		}
	}
	return rows, nil
}

// world is a home with leftovers.
type world struct {
	testing.TB
	home  string
	table *table
	live  map[string]bool
	src   *Agentctl
}

func newWorld(t testing.TB) *world {
	t.Helper()
	home := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	w := &world{TB: t, home: home, table: &table{Table: proc.OpenAt("/proc", "/etc")}, live: map[string]bool{}}
	w.src = &Agentctl{Home: home, Table: w.table, Sessions: Sessions{Live: w.live}}
	return w
}

func (w *world) cleaner() *Cleaner {
	return &Cleaner{Home: w.home, Sources: []Source{w.src}, Trash: trash.New(w.home, func(string) string { return "" })}
}

// process starts a real process that lives until the test ends.
func (w *world) process(args ...string) proc.Process {
	w.Helper()
	if len(args) == 0 {
		args = []string{"sleep", "60"}
	}
	cmd := exec.Command(args[0], args[1:]...)
	must.Do(w, cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	w.table.pids = append(w.table.pids, cmd.Process.Pid)
	p := must.Get(w.table.Find(cmd.Process.Pid))(w)
	return p
}

// dead returns the pid of a process that has ended.
func (w *world) dead() int {
	w.Helper()
	cmd := exec.Command("true")
	must.Do(w, cmd.Run())
	return cmd.Process.Pid
}

func (w *world) path(rel string) string { return filepath.Join(w.home, rel) }

func (w *world) write(rel, text string) string {
	w.Helper()
	path := w.path(rel)
	must.Do(w, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(w, os.WriteFile(path, []byte(text), 0o644))
	return path
}

type fields map[string]any

// record writes a session record; change adds to it or, with nil, takes away.
func (w *world) record(folder, id string, pid int, change fields) string {
	w.Helper()
	r := fields{"sessionId": id, "pid": pid, "launchedAt": time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	for k, v := range change {
		r[k] = v
		if v == nil {
			delete(r, k)
		}
	}
	return w.write(folder+"/"+id+".json", w.json(r))
}

func (w *world) json(v any) string {
	w.Helper()
	b := must.Get(json.MarshalIndent(v, "", "  "))(w)
	return string(b)
}

// found returns the paths that may be removed, relative to the home, and what was
// said about others.
func (w *world) found() (paths []string, said string) {
	w.Helper()
	items, err := w.cleaner().Scan(w.Context())
	for _, it := range items {
		rel, _ := filepath.Rel(w.home, it.Path)
		paths = append(paths, rel)
		if it.Why == "" || it.Kind == "" || it.Size == 0 {
			w.Errorf("%+v", it)
		}
	}
	if err != nil {
		said = err.Error()
	}
	return paths, said
}

// tree returns every file below a folder of the home, with its contents.
func (w *world) tree(rel string) map[string]string {
	w.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(w.path(rel), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		got[strings.TrimPrefix(path, w.home+"/")] = string(text)
		return err
	})
	must.Do(w, err)
	return got
}
