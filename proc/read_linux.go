package proc

import (
	"bytes"
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

// field returns what follows name, without blanks around it, in a file that has a line for each of its fields.
func field(file []byte, name string) (value string, ok bool) {
	for line := range bytes.Lines(file) {
		if value, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.TrimSpace(value)), true
		}
	}
	return "", false
}

// isExhausted reports whether an error is a lack of descriptors or memory, which concerns the whole table.
func isExhausted(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}
