//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openPipe opens both ends of a named pipe. Unlike those of package os the file blocks, as programs expect of their
// standard input.
func openPipe(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && info.Mode()&fs.ModeNamedPipe == 0 {
		err = fmt.Errorf("%s is no pipe", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// fillLimit is how long a process may take to read its first input from a pipe.
const fillLimit = time.Minute

// fill writes the contents of a file into a pipe that a process reads.
func fill(pipe, file string) error {
	if file == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_ = out.SetWriteDeadline(time.Now().Add(fillLimit))
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
