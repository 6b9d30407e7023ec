package agentproc

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
	"rollcall/proc"
)

// A path in a container is resolved as it is there; any other as package filepath
// does.
func TestEvalSymlinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	for _, err := range []error{os.Mkdir(target, 0o700), os.Symlink(target, filepath.Join(dir, "absolute")),
		os.Symlink("../"+filepath.Base(dir)+"/target", filepath.Join(dir, "relative")), os.Symlink("loop", filepath.Join(dir, "loop"))} {
		must.Do(t, err)
	}
	resolved, err := filepath.EvalSymlinks(target)
	must.Do(t, err)
	for _, root := range []string{"", rootOfSelf(t)} {
		for _, name := range []string{"absolute", "relative", "target"} {
			got, err := EvalSymlinks(root + filepath.Join(dir, name))
			want := resolved
			if root == rootOfSelf(t) {
				want = root + resolved
			}
			if err != nil || got != want {
				t.Errorf("%s in %q: %s, %v; want %s", name, root, got, err, want)
			}
		}
		for _, name := range []string{"loop", "missing"} {
			if got, err := EvalSymlinks(root + filepath.Join(dir, name)); err == nil {
				t.Errorf("%s in %q: %s", name, root, got)
			}
		}
	}
}

func rootOfSelf(t *testing.T) string {
	t.Helper()
	self, err := os.Readlink("/proc/self")
	if err != nil {
		t.Skip(err)
	}
	return "/proc/" + self + "/root"
}

// A process that shares our files is left as it is.
func TestRoot(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	table := proc.Open()
	p, err := table.Find(cmd.Process.Pid)
	must.Do(t, err)
	if root, err := table.Root(p.Identity); err != nil || root != "" {
		t.Errorf("root %q, %v", root, err)
	}
	plain, err1 := table.CWD(p.Identity)
	through, err2 := Table(table, t.TempDir()).CWD(p.Identity)
	if err1 != nil || err2 != nil || plain != through {
		t.Errorf("%q, %v; %q, %v", plain, err1, through, err2)
	}
}
