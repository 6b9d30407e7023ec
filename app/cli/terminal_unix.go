//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attachConsole does nothing: the program writes to the terminal that started it.
func attachConsole() {}

// enableColor reports whether a terminal can show colours.
func enableColor(int) bool { return true }

// readerGone returns a context that ends with ctx, and when the reading end of w is
// closed, where w is a pipe or socket.
func readerGone(ctx context.Context, w io.Writer) context.Context {
	f, ok := w.(*os.File)
	if !ok {
		return ctx
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return ctx
	}
	end, wake, err := os.Pipe()
	if err != nil {
		return ctx
	}
	gone, cancel := context.WithCancel(ctx)
	context.AfterFunc(gone, func() { _ = wake.Close() })
	go func() {
		defer cancel()
		defer func() { _ = end.Close() }()
		// poll reports errors and the end of the other side without being asked.
		fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(end.Fd()), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, -1); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return gone
}

// replace executes a program in place of this process. It returns only on
// failure.
func replace(path string, args []string, dir string, env []string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, append([]string{path}, args...), env)}
}
