package cli

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// reportTable is a process table with these processes, of which one can't be read.
type reportTable struct {
	proc.Lister
	home   string
	denied int
}

func (reportTable) List(context.Context) ([]proc.Process, error) {
	var list []proc.Process
	for i, comm := range []string{"claude", "node", "editor", "codex"} {
		list = append(list, proc.Process{Identity: proc.Identity{PID: 70 + i, Start: 1}, PPID: 7, Comm: comm, Suspended: comm == "codex"})
	}
	return list, nil
}

func (r reportTable) read(id proc.Identity) ([]string, error) {
	if id.PID == r.denied {
		return nil, os.ErrPermission
	}
	return []string{filepath.Join(r.home, "x"), "WORDS"}, nil
}

func (r reportTable) Args(id proc.Identity) ([]string, error)      { return r.read(id) }
func (r reportTable) Env(id proc.Identity) ([]string, error)       { return r.read(id) }
func (r reportTable) OpenFiles(id proc.Identity) ([]string, error) { return nil, proc.ErrUnsupported }
func (reportTable) Exe(proc.Identity) (string, error)              { return "/opt/x", nil }
func (reportTable) CWD(proc.Identity) (string, error)              { return "/x", nil }
func (reportTable) Holders(string) ([]proc.Identity, error)        { return nil, proc.ErrUnsupported }

// The report says first what it prints, prints all of it, and names neither the user nor the home folder; command lines and evidence only if asked.
func TestDoctorReport(t *testing.T) {
	home := filepath.Join(t.TempDir(), "annabel")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	s := simple("a", agentname.ClaudeCode, adapters.Working, time.Minute)
	s.Evidence = "EVIDENCE of " + home
	d := deps(claude(s))
	open := d.Open
	d.Open = func() ([]adapters.Adapter, proc.Lister) {
		list, _ := open()
		return list, reportTable{proc.Open(), home, 73}
	}
	short := run(t, d, "doctor", "--report")
	if short.code != 0 || !strings.HasPrefix(short.out, reportIntroduction) {
		t.Fatalf("exit code %d, %s\n%s", short.code, short.err, short.out)
	}
	for _, want := range []string{
		"4 processes in",
		"\n70, parent 7: claude, claude: arguments 2, variables 2, program 6, folder 2, files unknown here\n",
		"\n71, parent 7: node, of no known agent: ",
		"\n73, parent 7: codex, codex, suspended: no arguments (",
		"\n1 claude-code working\n", "claude-code answered in", "+ Claude Code: 1 session", "1.2.3", "\noff\n",
	} {
		if !strings.Contains(short.out, want) {
			t.Errorf("no %q in\n%s", want, short.out)
		}
	}
	for _, part := range []string{"1 system", "2 processes", "3 sessions", "4 doctor", "5 start at login", "6 please answer"} {
		if strings.Count(short.out, "\n## "+part+"\n") != 1 {
			t.Errorf("part %s is not printed once", part)
		}
	}
	full := run(t, d, "doctor", "--report", "--full")
	for _, word := range []string{"WORDS", "EVIDENCE of ~"} {
		if strings.Contains(short.out, word) || !strings.Contains(full.out, word) {
			t.Errorf("%s is not printed with --full alone:\n%s", word, full.out)
		}
	}
	if strings.Contains(full.out, "annabel") || strings.Contains(full.out, "editor") {
		t.Errorf("it prints what it must not:\n%s", full.out)
	}
	for _, args := range [][]string{{"doctor", "--full"}, {"doctor", "--report", "--json"}} {
		if r := run(t, d, args...); r.code != 2 {
			t.Errorf("%v: exit code %d", args, r.code)
		}
	}
}

func TestWithoutUser(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	if got := withoutUser("by " + u.Username + "."); got != "by USER." {
		t.Errorf("%q", got)
	}
}
