package localsocket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
	"rollcall/proc"
)

// listen listens on a socket in a folder of the test's own.
func listen(t *testing.T, path string) {
	t.Helper()
	listener := must.Get(net.Listen("unix", path))(t)
	t.Cleanup(func() { _ = listener.Close() })
}

// TestCheck: only a socket of this user, in a folder in which no other user can replace it.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	listen(t, path)
	if err := Check(path); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	t.Chdir(dir)
	for _, wrong := range []string{"s", file, filepath.Join(dir, "none"), filepath.Join(dir, "none", "s")} {
		if Check(wrong) == nil {
			t.Errorf("%s passed", wrong)
		}
	}
	must.Do(t, os.Chmod(dir, 0o777))
	if Check(path) == nil {
		t.Error("a folder that others can write to")
	}
	must.Do(t, os.Chmod(dir, 0o777|os.ModeSticky))
	if err := Check(path); err != nil {
		t.Errorf("a folder like /tmp: %v", err)
	}
}

// TestCheckOfAnotherUser: neither the socket nor its folder may be another user's, who could replace the socket.
func TestCheckOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	listen(t, path)
	for _, mode := range []os.FileMode{0o755, 0o777 | os.ModeSticky} {
		must.Do(t, errors.Join(os.Lchown(dir, 4711, 4711), os.Chmod(dir, mode)))
		if Check(path) == nil {
			t.Errorf("a socket in a folder of another user, %v", mode)
		}
	}
	must.Do(t, errors.Join(os.Lchown(dir, os.Getuid(), os.Getgid()), os.Chmod(dir, 0o700)))
	if err := Check(path); err != nil {
		t.Error(err)
	}
	must.Do(t, os.Lchown(path, 4711, 4711))
	if Check(path) == nil {
		t.Error("the socket of another user")
	}
}

// TestListener: the process that listens, also on an abstract socket.
func TestListener(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "s"), "@rollcall-test-" + filepath.Base(t.TempDir()) + t.Name()} {
		listen(t, path)
		if id, err := Listener(t.Context(), path); err != nil || id != proc.Self() {
			t.Errorf("%s: %v, %v", path, id, err)
		}
	}
	if _, err := Listener(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nobody listens")
	}
}
