package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// counting is a writer that chooses another session id for each command.
type counting struct {
	writer
	n int
}

func (a *counting) Command(program string, t adapters.Task) (adapters.Command, error) {
	a.n++
	c, err := a.writer.Command(program, t)
	c.Session = fmt.Sprintf("session-%d", a.n)
	c.Args = append(c.Args, c.Session)
	return c, err
}

// TestGroupPrintsWhatRuns: the commands that a group prints are those that are run, in the folders that are
// printed.
func TestGroupPrintsWhatRuns(t *testing.T) {
	repo := oneCommit(t)
	below := filepath.Join(repo, "sub")
	if err := os.Mkdir(below, 0o700); err != nil { // not committed
		t.Fatal(err)
	}
	a := &counting{writer: writer{agentname.Codex}}
	d := launchDeps(t, a)
	r := run(t, d, "launch", "codex=a", "codex=b", "-p", "do it", "--cwd", below, "--group", "g-00aa11")
	if r.code != Done {
		t.Fatalf("%+v", r)
	}
	l := must.Get(d.Launches())(t)
	list, err := l.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("records %+v, %v", list, err)
	}
	printed := regexp.MustCompile(`(?m)^Codex in (\S+)\n  (.*)\n`).FindAllStringSubmatch(r.out, -1)
	if len(printed) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, record := range list {
		found := false
		for _, p := range printed {
			found = found || p[1] == record.Dir && strings.HasSuffix(p[2], " "+record.Session)
		}
		if !found {
			t.Errorf("%s in %s was not printed:\n%s", record.Session, record.Dir, r.out)
		}
	}
}
