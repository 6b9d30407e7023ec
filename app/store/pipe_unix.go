//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// MakePipe creates a named pipe for the user alone. Its name must not exist.
func (d *Dir) MakePipe(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "create", Path: d.File(name), Err: fs.ErrInvalid}
	}
	if err := syscall.Mkfifo(d.File(name), 0o600); err != nil {
		return &fs.PathError{Op: "create", Path: d.File(name), Err: err}
	}
	return nil
}

// OpenPipe opens a named pipe of the user's alone for writing. It returns ErrNoReader if no process reads from it.
func (d *Dir) OpenPipe(name string) (*os.File, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|noWait, 0)
	if err != nil {
		if info, lstatErr := d.root.Lstat(name); lstatErr == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return nil, fmt.Errorf("%s: %w", d.File(name), ErrNoReader)
		}
		return nil, named(d.File(name), err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&fs.ModeNamedPipe == 0 {
		err = &UnsafeError{d.File(name), "it is not a pipe", "Remove it."}
	}
	if err == nil {
		err = checkOwner(d.File(name), info, onlyUser)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// TryLockFile takes the kernel's lock on an open file, and reports whether it did. Closing the file releases the lock.
func TryLockFile(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var lockErr error
	if err := raw.Control(func(fd uintptr) { lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		return false, err
	}
	if lockErr == syscall.EWOULDBLOCK || lockErr == syscall.EINTR {
		return false, nil
	}
	return lockErr == nil, lockErr
}
