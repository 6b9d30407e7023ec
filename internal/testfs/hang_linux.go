// Package testfs makes, for tests, file systems that fail as real ones do: one that
// stops answering (a FUSE mount whose server is suspended) and one that is full.
package testfs

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// FS is a mounted view of a folder.
type FS struct {
	Path   string // where it is mounted
	server *exec.Cmd
}

// Mount mounts a folder again at an empty folder. It needs root and bindfs.
// Without them the test is skipped; in CI a missing bindfs is a failure.
func Mount(t *testing.T, folder string) *FS {
	t.Helper()
	return mount(t, folder, t.TempDir())
}

// Cover mounts a folder again in its own place. It needs what Mount needs.
func Cover(t *testing.T, folder string) *FS {
	t.Helper()
	return mount(t, folder, folder)
}

func mount(t *testing.T, folder, at string) *FS {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a file system can be mounted by root alone")
	}
	program, err := exec.LookPath("bindfs")
	if err != nil {
		must.Skip(t, "bindfs is missing")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("this machine has no FUSE: ", err)
	}
	f := &FS{Path: at}
	f.server = exec.Command(program, "-f", "-o", "nonempty", folder, f.Path)
	f.server.Stderr = os.Stderr
	must.Do(t, f.server.Start())
	t.Cleanup(func() { f.end(t) })
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if mounts, err := os.ReadFile("/proc/self/mounts"); err == nil && strings.Contains(string(mounts), " "+strings.ReplaceAll(f.Path, " ", `\040`)+" ") {
			f.await(t)
			return f
		}
		if time.Now().After(until) {
			t.Fatal("bindfs mounted nothing in 20 s")
		}
	}
}

// await returns once the server has answered a call. A server that is suspended
// earlier may not have greeted the kernel yet, which then lets calls wait for that
// in another place than for an answer.
func (f *FS) await(t *testing.T) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(f.Path, &stat); err != nil { // no cache answers this one
		t.Fatal(err)
	}
}

// Hang makes every call into the file system block until Answer.
func (f *FS) Hang(t *testing.T) { f.signal(t, syscall.SIGSTOP) }

// Answer makes the file system answer again.
func (f *FS) Answer(t *testing.T) { f.signal(t, syscall.SIGCONT) }

func (f *FS) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	must.Do(t, f.server.Process.Signal(s))
}

// end ends the server first: calls that hang then fail.
func (f *FS) end(t *testing.T) {
	_ = f.server.Process.Kill()
	_ = f.server.Wait()
	if err := syscall.Unmount(f.Path, syscall.MNT_DETACH); err != nil && err != syscall.EINVAL {
		t.Errorf("unmount %s: %v", f.Path, err)
	}
}

// AwaitHang waits until the kernel has forgotten what it knew of a path on a file system that hangs.
func AwaitHang(t *testing.T, path string) {
	t.Helper()
	eventually.True(t, "the end of the kernel's cache for "+path, func() bool {
		_, err := bounded.Within(t.Context(), time.Second, func() (os.FileInfo, error) { return os.Stat(path) })
		return errors.Is(err, bounded.ErrNoAnswer)
	})
}
