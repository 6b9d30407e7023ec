package agentproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
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

// The home of a contained process, which only a link of the container may lead to, is not waited for if it does not answer.
func TestHomeHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	link := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.Symlink(mount.Path, link))
	cmd := exec.Command("unshare", "-m", "sleep", "1000")
	cmd.Env = append(os.Environ(), "HOME="+link)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	table := proc.Open()
	eventually.True(t, "a mount namespace", func() bool {
		p, err := table.Find(cmd.Process.Pid)
		must.Do(t, err)
		root, _ := table.Root(p.Identity)
		return root != "" && p.Comm == "sleep"
	})
	p, err := table.Find(cmd.Process.Pid)
	must.Do(t, err)
	mount.Hang(t)
	defer mount.Answer(t)
	testfs.AwaitHang(t, mount.Path)
	want := fmt.Sprintf("HOME=/proc/%d/root%s", p.PID, link)
	env, err := bounded.Within(t.Context(), time.Minute, func() ([]string, error) { return Table(table, t.TempDir()).Env(p.Identity) })
	if err != nil || !slices.Contains(env, want) {
		t.Errorf("%q, %v; want %q", env, err, want)
	}
	if path, err := EvalSymlinks(strings.TrimPrefix(want, "HOME=")); !errors.Is(err, bounded.ErrNoAnswer) {
		t.Errorf("%q, %v", path, err)
	}
}
