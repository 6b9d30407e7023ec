package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// users is a process table of several users. Only the folders of processes that folders has can be read.
type users struct {
	owners  map[int]int // by pid
	names   map[int]string
	folders map[int]string
}

func (u users) List(context.Context) (rows []proc.Process, err error) {
	for pid, name := range u.names {
		rows = append(rows, proc.Process{Identity: proc.Identity{PID: pid, Start: 1}, Comm: name})
	}
	return rows, errors.New("some can't be read")
}

func (u users) UID(id proc.Identity) (int, error) { return u.owners[id.PID], nil }

func (u users) CWD(id proc.Identity) (string, error) {
	if dir := u.folders[id.PID]; dir != "" {
		return dir, nil
	}
	return "", fs.ErrPermission
}

// An agent of another user is named where it works in the folder of a launch, or may.
func TestStrangers(t *testing.T) {
	name := ""
	for _, d := range adapters.Described() {
		if len(d.Processes) > 0 {
			name = d.Processes[0]
		}
	}
	if name == "" {
		t.Fatal("no agent is known")
	}
	dir := t.TempDir()
	for label, c := range map[string]struct {
		mode  fs.FileMode
		uid   int
		table users
		want  string // part of the only warning; empty: there is none
	}{
		"not seen":             {0o777, 1000, users{map[int]int{7: 1001}, map[int]string{7: name}, nil}, "it can't be seen"},
		"it works there":       {0o775, 1000, users{map[int]int{7: 1001}, map[int]string{7: name}, map[int]string{7: filepath.Join(dir, "sub")}}, " works in "},
		"it works elsewhere":   {0o777, 1000, users{map[int]int{7: 1001}, map[int]string{7: name}, map[int]string{7: filepath.Join(filepath.Dir(dir), "elsewhere")}}, ""},
		"own":                  {0o777, 1000, users{map[int]int{7: 1000}, map[int]string{7: name}, nil}, ""},
		"another program":      {0o777, 1000, users{map[int]int{7: 1001}, map[int]string{7: "bash"}, nil}, ""},
		"nobody else can work": {0o755, 1000, users{map[int]int{7: 1001}, map[int]string{7: name}, nil}, ""},
		"root sees them":       {0o777, 0, users{map[int]int{7: 1001}, map[int]string{7: name}, nil}, ""},
	} {
		if runtime.GOOS == "windows" && c.mode != 0o777 {
			continue // Go shows every folder of Windows with this mode
		}
		must.Do(t, os.Chmod(dir, c.mode))
		got := strangers(t.Context(), c.table, c.uid, dir)
		if (len(got) == 1) != (c.want != "") || len(got) == 1 && !strings.Contains(got[0].Error(), c.want) {
			t.Errorf("%s: %v, want %q", label, got, c.want)
		}
	}
}
