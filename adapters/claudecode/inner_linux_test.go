package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/proc"
)

// startInside starts a claude as the first process of a pid namespace.
func (w *fixture) startInside(dir string) proc.Process {
	w.Helper()
	w.check(os.MkdirAll(dir, 0o755))
	cmd := exec.Command(w.bin)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + w.home, "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	in, err := cmd.StdinPipe()
	w.check(err)
	if err := cmd.Start(); err != nil {
		if os.Getenv("CI") == "true" {
			w.Fatalf("no pid namespace: %v", err)
		}
		if t, ok := w.TB.(*testing.T); ok {
			t.Skipf("no pid namespace: %v", err)
		}
	}
	w.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var p proc.Process
	eventually.True(w.TB, "the name of the process, and its arguments", func() bool { // its environment comes with them
		var err error
		p, err = w.table.Find(cmd.Process.Pid)
		if err != nil || p.Comm != "claude" {
			return false
		}
		args, err := w.table.Args(p.Identity)
		return err == nil && len(args) > 0
	})
	return p
}

// innerDomain names another pid namespace of this machine.
func (w *fixture) innerDomain() string {
	machine, _, _ := strings.Cut(w.table.Domain(), ":pid:")
	return machine + ":pid:[4026599999]"
}

// domained is a table whose domain is another.
type domained struct {
	ownTable
	domain string
}

func (t domained) Domain() string { return t.domain }

// An entry with the pid of an inner namespace is that of the process which has
// that pid there, not of the one that has it here; and stopped once it has ended.
func TestEntryOfInnerNamespace(t *testing.T) {
	for _, c := range []struct {
		name string
		more map[string]any
	}{
		{"2.1.329", map[string]any{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			p := w.startInside(filepath.Join(w.home, "proj"))
			c.more["pid"], c.more["status"] = 1, "busy"
			if _, set := c.more["pidDomain"]; !set {
				c.more["pidDomain"] = w.innerDomain()
			}
			path := w.entry(p, id(1), c.more)
			w.check(os.Rename(path, w.path("sessions", "1.json")))
			w.transcript(1, ofVersion(c.name, promptLine("hi"))...)
			a := New(w.config)
			sessions, roll, err := ask(t, a, adapters.Query{})
			s := w.expect(sessions, 1, "working")
			if err != nil || s.Process != p.Identity || !strings.Contains(s.Evidence, fmt.Sprintf("pid %d here", p.PID)) || len(rows(roll)) != 0 {
				t.Errorf("%v: process %v, evidence %q, rows %v", err, s.Process, s.Evidence, rows(roll))
			}
			if signals, err := a.EndBy(s); err != nil || len(signals) == 0 {
				t.Errorf("end by %v, %v", signals, err)
			}
			w.end(p)
			a.Table = domained{w.ownTable(), w.table.Domain()}
			was, _, _ := ask(t, a, adapters.Query{})
			fresh, _, _ := w.discover(adapters.Query{})
			if was[id(1)].Status != fresh[id(1)].Status || was[id(1)].Status == adapters.Working {
				t.Errorf("it has ended: %s, and a fresh adapter says %s", was[id(1)].Status, fresh[id(1)].Status)
			}
		})
	}
}

// Asked only afterwards, an entry of another namespace of this machine is stopped
// where all namespaces are seen, and not known where they are not.
func TestEntryOfEndedNamespace(t *testing.T) {
	w := newFixture(t)
	machine, _, named := strings.Cut(w.table.Domain(), ":pid:")
	if !named {
		t.Skip("this machine has no id")
	}
	w.entry(w.gone(), id(1), map[string]any{"pid": 1, "status": "busy", "pidDomain": w.innerDomain()})
	w.transcript(1, promptLine("hi"))
	w.check(os.Rename(onlyEntry(w), w.path("sessions", "1.json")))
	for domain, want := range map[string]string{
		machine + initialDomain:              "stopped died",
		machine + ":pid:[4026599998]":        "unknown", // Rollcall is in a namespace itself
		"linux:othermachine" + initialDomain: "unknown",
	} {
		w.config.Table = domained{w.ownTable(), domain}
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, want)
	}
}

// onlyEntry is the only file of the registry.
func onlyEntry(w *fixture) string {
	paths, err := fs.Glob(os.DirFS(w.path("sessions")), "*.json")
	if err == nil && len(paths) != 1 {
		err = errors.New("not one entry")
	}
	w.check(err)
	return w.path("sessions", paths[0])
}
