package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/owned/fuse"
	"rollcall/app/store"
	"rollcall/internal/must"
)

func TestFuse(t *testing.T) {
	d := deps(claude())
	f := fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"fuse", "list"}, Done, "no fuse is set"},
		{[]string{"fuse", "set", dir}, Usage, "needs something to do"},
		{[]string{"fuse", "set", dir, "--in", "0s", "--script", "true"}, Usage, "--in must be more than 0 seconds"},
		{[]string{"fuse", "set", dir, "--in", "9999h", "--script", "true"}, Usage, "--in must be more than 0 seconds and at most 30 days"},
		{[]string{"fuse", "set", dir, "--in", "soon", "--script", "true"}, Usage, "--in"},
		{[]string{"fuse", "set", dir, "--webhook", "ftp://x"}, Usage, "--webhook: "},
		{[]string{"fuse", "extend", dir, "--by", "-5m"}, Usage, "--by must be more than 0 seconds"},
		{[]string{"fuse", "set", dir, "--in", "1h", "--note", "cl\x1b[31muster", "--script", "true"}, Done, "expires at "},
		{[]string{"fuse", "set", dir, "--script", "false"}, Failure, "already set for this folder"},
		{[]string{"fuse", "extend", dir, "--by", "5m"}, Done, "expires at "},
		{[]string{"fuse", "list"}, Done, "  script: true\n"},
		{[]string{"fuse", "list", "--json"}, Done, `"script":"true"`},
		{[]string{"fuse", "cancel", dir}, Done, "cancelled"},
		{[]string{"fuse", "set", dir, "--script", "true", "--event", "a b"}, Failure, `the event "a b" must consist of`},
		{[]string{"fuse", "set", dir, "--script", "true", "--event", "cluster.down"}, Done, "expires at "},
		{[]string{"fuse", "list"}, Done, "  event: cluster.down\n"},
		{[]string{"fuse", "list", "--json"}, Done, `"event":"cluster.down"`},
		{[]string{"fuse", "cancel", dir}, Done, "cancelled"},
		{[]string{"fuse", "cancel", dir}, Failure, "no fuse is set for this folder"},
		{[]string{"fuse", "cancel"}, Usage, "takes one folder"},
		{[]string{"fuse", "cancle"}, Usage, `unknown command "cancle" for rollcall fuse; did you mean "cancel"?`},
		{[]string{"fuse", "nonsense"}, Usage, "unknown command"},
	} {
		r := run(t, d, c.args...)
		if r.code != c.code || !strings.Contains(r.out+r.err, c.says) || strings.Contains(r.out+r.err, "\x1b") {
			t.Errorf("%q: %+v; want %d with %q", c.args, r, c.code, c.says)
		}
	}
}

// TestFuseListIsSorted: by the time of their expiry, then by folder.
func TestFuseListIsSorted(t *testing.T) {
	d := deps(claude())
	f := fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	base := t.TempDir()
	for _, x := range []struct{ name, in string }{{"c", "2h"}, {"a", "3h"}, {"b", "1h"}} {
		dir := filepath.Join(base, x.name)
		must.Do(t, os.Mkdir(dir, 0o700))
		if r := run(t, d, "fuse", "set", dir, "--in", x.in, "--script", "true"); r.code != Done {
			t.Fatalf("%+v", r)
		}
	}
	var order []string
	for line := range strings.Lines(run(t, d, "fuse", "list").out) {
		if !strings.HasPrefix(line, " ") {
			order = append(order, filepath.Base(strings.TrimSpace(line)))
		}
	}
	if got := strings.Join(order, " "); got != "b c a" {
		t.Errorf("listed %s", got)
	}
}
