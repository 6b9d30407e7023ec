package adaptertest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// doublePID is above that of every recorded process.
const doublePID = 4_000_000

// Changes are how a double differs from its original.
type Changes struct {
	CWD   string
	Args  []string          // after the program
	Env   map[string]string // beside its own; an empty one is taken away
	Files []string          // that it has open
}

// Double adds to the recorded machine a process that is like another one and began
// a second later.
func (r *Recording) Double(t testing.TB, pid int, change Changes) (double int) {
	t.Helper()
	tree := tree{t}
	from := filepath.Join(r.ProcRoot, strconv.Itoa(pid))
	to := filepath.Join(r.ProcRoot, strconv.Itoa(doublePID))
	read := func(name string) string {
		text := must.Get(os.ReadFile(filepath.Join(from, name)))(t)
		return string(text)
	}
	_, rest, _ := strings.Cut(read("stat"), ") ")
	fields := strings.Fields(rest)
	start := must.Get(strconv.ParseUint(fields[19], 10, 64))(t)
	fields[1], fields[19] = "1", strconv.FormatUint(start+100, 10)
	comm := strings.TrimSpace(read("comm"))
	tree.file(filepath.Join(to, "stat"), strconv.Itoa(doublePID)+" ("+comm+") "+strings.Join(fields, " ")+"\n")
	tree.file(filepath.Join(to, "status"), "Name:\t"+comm+"\nTgid:\t"+strconv.Itoa(doublePID)+"\nPid:\t"+strconv.Itoa(doublePID)+"\nPPid:\t1\n")
	tree.file(filepath.Join(to, "io"), "rchar: 0\nwchar: 0\n")
	program, _, _ := strings.Cut(read("cmdline"), "\x00")
	tree.file(filepath.Join(to, "comm"), comm+"\n")
	tree.file(filepath.Join(to, "cmdline"), zeroTerminated(append([]string{program}, change.Args...)))
	variables := map[string]string{}
	for v := range bytes.SplitSeq([]byte(read("environ")), []byte{0}) {
		if name, value, ok := strings.Cut(string(v), "="); ok {
			variables[name] = value
		}
	}
	maps.Copy(variables, change.Env)
	var list []string
	for name, value := range variables {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	tree.file(filepath.Join(to, "environ"), zeroTerminated(list))
	if exe, err := os.Readlink(filepath.Join(from, "exe")); err == nil {
		tree.link(filepath.Join(to, "exe"), exe)
	}
	tree.link(filepath.Join(to, "cwd"), change.CWD)
	tree.link(filepath.Join(to, "fd/0"), "/dev/pts/0")
	for i, path := range change.Files {
		tree.link(filepath.Join(to, "fd", strconv.Itoa(i+3)), path)
	}
	return doublePID
}
