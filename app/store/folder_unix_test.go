//go:build unix

package store

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/internal/must"
)

// TestNoFolder: what is in the place of a folder is refused at once: opening a pipe would wait for its other end.
func TestNoFolder(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", "rc"))(t) // short enough for a socket
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pipe := filepath.Join(dir, "pipe")
	link := filepath.Join(dir, "link")
	socket := filepath.Join(dir, "socket")
	file := filepath.Join(dir, "file")
	l := must.Get(net.Listen("unix", socket))(t)
	defer l.Close()
	must.Do(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", link), os.WriteFile(file, nil, 0o600)))
	open := map[string]func(string, ...string) (*Dir, error){"open": OpenDir, "make": MakeDir}
	for how, f := range open {
		for _, path := range []string{pipe, link, socket, file} {
			for _, below := range [][]string{nil, {filepath.Base(path)}} {
				at := path
				if below != nil {
					at = dir
				}
				d, err := f(at, below...)
				if err == nil {
					d.Close()
				}
				if how == "make" && below == nil && path != link { // a missing folder is created, which fails before
					if err == nil {
						t.Errorf("%s %s: no error", how, path)
					}
					continue
				}
				if !errors.Is(err, ErrUnsafe) || !strings.HasPrefix(err.Error(), path+": it is ") {
					t.Errorf("%s %s in %s: %v", how, path, at, err)
				}
			}
		}
	}
}
