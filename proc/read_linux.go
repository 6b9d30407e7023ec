package proc

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// openAt opens a file of a /proc tree for reading. It does not use package os, which
// would register each file with the network poller. O_NONBLOCK keeps a pipe in a tree
// from blocking.
func openAt(dir int, path string) (int, error) {
	for {
		fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// readAt reads a file into buffer, as much as fits.
func readAt(dir int, path string, buffer []byte) (int, error) {
	fd, err := openAt(dir, path)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buffer) {
		m, err := unix.Read(fd, buffer[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return n, nil
}

// readAll reads a whole file of at most limit bytes.
func readAll(path string, limit int) ([]byte, error) {
	for size := 16 << 10; ; size *= 8 {
		buffer := make([]byte, min(size, limit+1))
		n, err := readAt(unix.AT_FDCWD, path, buffer)
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n < len(buffer) {
			return buffer[:n], nil
		}
		if n > limit {
			return nil, fmt.Errorf("%s: longer than %d MiB", path, limit>>20)
		}
	}
}

// isGone reports whether an error means that the process has left the table: its
// folder is missing, or it ended between open and read.
func isGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOTDIR)
}
