package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

func init() {
	roles["open"] = func() error {
		kept, err := os.Open("kept file")
		if err != nil {
			return err
		}
		defer kept.Close()
		removed, err := os.Create("removed")
		if err != nil {
			return err
		}
		defer removed.Close()
		if err := os.Remove("removed"); err != nil {
			return err
		}
		return ready("ready")
	}
	roles["read parent as nobody"] = func() error {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
		table := OpenAt("/proc", "/etc")
		parent, err := table.Find(os.Getppid())
		if err != nil {
			return err
		}
		_, errEnv := table.Env(parent.Identity)
		_, errCWD := table.CWD(parent.Identity)
		_, errFiles := table.OpenFiles(parent.Identity)
		return ready(fmt.Sprint(errors.Is(errEnv, fs.ErrPermission), errors.Is(errCWD, fs.ErrPermission), errors.Is(errFiles, fs.ErrPermission)))
	}
	roles["lock"] = lockFiles
	roles["append"] = appendAndWatch
}

func TestDetailsOfChild(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a\nfolder")
	must.Do(t, os.Mkdir(folder, 0o755))
	kept := filepath.Join(folder, "kept file")
	must.Do(t, os.WriteFile(kept, nil, 0o644))
	c := start(t, "open", func(c *exec.Cmd) {
		c.Dir = folder
		c.Args = []string{"name of its own", "-test.run=^$", "two words", "", "line\nbreak"}
		c.Env = append(c.Env, "ROLLCALL_VALUE=a b=c\nd")
	})
	table := OpenAt("/proc", "/etc")
	id := c.identity(t, table)
	if args, err := table.Args(id); err != nil || !slices.Equal(args, c.Args) {
		t.Errorf("args %q, %v; want %q", args, err, c.Args)
	}
	if env, err := table.Env(id); err != nil || !slices.Contains(env, "ROLLCALL_VALUE=a b=c\nd") {
		t.Errorf("env %q, %v", env, err)
	}
	if cwd, err := table.CWD(id); err != nil || cwd != folder {
		t.Errorf("cwd %q, %v; want %q", cwd, err, folder)
	}
	if exe, err := table.Exe(id); err != nil || exe != c.Path {
		t.Errorf("exe %q, %v; want %q", exe, err, c.Path)
	}
	files, err := table.OpenFiles(id)
	if err != nil || !slices.Contains(files, kept) {
		t.Errorf("open files %q, %v; want %q among them", files, err, kept)
	}
	for _, file := range files {
		if filepath.Base(file) == "removed" || file == "/dev/null" {
			t.Errorf("%q is among the open files", file)
		}
	}
}

// TestFileInSharedMemory: /dev/shm holds ordinary files, such as an agent's home in memory.
func TestFileInSharedMemory(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "rollcall-test-")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /dev/shm: ", err)
	}
	must.Do(t, err)
	defer os.Remove(f.Name())
	defer f.Close()
	table := OpenAt("/proc", "/etc")
	self := must.Get(table.Find(os.Getpid()))(t)
	if files, err := table.OpenFiles(self.Identity); err != nil || !slices.Contains(files, f.Name()) {
		t.Errorf("open files %q, %v; want %q among them", files, err, f.Name())
	}
}

func TestOtherUsersProcess(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can play another user")
	}
	if c := start(t, "read parent as nobody", nil); c.said != "true true true" {
		t.Errorf("environment, folder and files of root's process: denied = %s", c.said)
	}
}

// lockFiles takes a flock and a POSIX lock and lets a second descriptor wait.
func lockFiles() error {
	flocked, err := os.Create("flocked")
	if err != nil {
		return err
	}
	defer flocked.Close()
	if err := unix.Flock(int(flocked.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	posix, err := os.Create("posix")
	if err != nil {
		return err
	}
	defer posix.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: 0}
	if err := unix.FcntlFlock(posix.Fd(), unix.F_SETLK, &whole); err != nil {
		return err
	}
	return ready("ready")
}

func TestFileLocks(t *testing.T) {
	folder := t.TempDir()
	c := start(t, "lock", func(c *exec.Cmd) { c.Dir = folder })
	unlocked := filepath.Join(folder, "unlocked")
	must.Do(t, os.WriteFile(unlocked, nil, 0o644))
	locks := must.Get(OpenAt("/proc", "/etc").FileLocks())(t)
	for name, want := range map[string]int{"flocked": c.Process.Pid, "posix": c.Process.Pid, "unlocked": 0} {
		info := must.Get(os.Stat(filepath.Join(folder, name)))(t)
		id, ok := FileIDOf(info)
		if !ok {
			t.Fatal("no file id")
		}
		if locks[id] != want {
			t.Errorf("%s (%+v) is held by %d, want %d", name, id, locks[id], want)
		}
	}
}
