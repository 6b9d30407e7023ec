// Package agentfile opens and reads the files of agents safely: it never waits for
// a pipe or a device, and on Windows it does not keep the agent from replacing a
// file while that is being read.
package agentfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	// ErrNotRegular reports that a path is a folder, a pipe, a device or a socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrNotFolder reports that something else is in the place of a folder.
	ErrNotFolder = errors.New("not a folder")
	// ErrTooLarge reports that a file is larger than its kind of file ever is.
	ErrTooLarge = errors.New("too large")
)

// OpenRegular opens a file for reading. It returns ErrNotRegular for anything but a regular
// file: reading a pipe or a device may never end.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) { return regular(Open(path)) }

// OpenUntouched does the same as OpenRegular, for files whose time of the last access is
// evidence: where Accessed returns that time, opening the file does not change it.
func OpenUntouched(path string) (*os.File, fs.FileInfo, error) { return regular(openUntouched(path)) }

// CheckRegular returns ErrNotRegular, with what it is instead, for anything but a regular file.
func CheckRegular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s, %w", kindOf(info), ErrNotRegular)
}

// CheckFolder returns ErrNotFolder, with what is there and where, if something other than a folder is at a path, or above a path that does
// not exist. It returns nil for a folder, and for a path where nothing keeps a folder from being.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	for err != nil && filepath.Dir(path) != path {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) { // Windows has no ENOTDIR
			return nil
		}
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	if err != nil || info.IsDir() {
		return nil
	}
	return notFolder(path, info)
}

func notFolder(path string, info fs.FileInfo) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%s, %w", kindOf(info), ErrNotFolder)}
}

// MayBeFolder reports whether an entry of a folder is a folder, or a link that does not lead to anything else.
func MayBeFolder(dir string, e fs.DirEntry) bool {
	return e.IsDir() || e.Type()&fs.ModeSymlink != 0 && CheckFolder(filepath.Join(dir, e.Name())) == nil
}

// kindOf returns what is at a path, in words.
func kindOf(info fs.FileInfo) string {
	if info.Mode().IsRegular() {
		return "a file"
	}
	kinds := map[fs.FileMode]string{fs.ModeDir: "a folder", fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket"}
	return cmp.Or(kinds[info.Mode().Type()], "a device")
}

func regular(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	var named *fs.PathError
	if errors.Is(err, syscall.ENXIO) && errors.As(err, &named) { // a socket can't be opened
		err = &fs.PathError{Op: "read", Path: named.Path, Err: fmt.Errorf("a socket, %w", ErrNotRegular)}
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		if other := CheckRegular(info); other != nil {
			err = &fs.PathError{Op: "read", Path: f.Name(), Err: other}
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadSmall reads a regular file of at most limit bytes. It returns ErrTooLarge for
// a larger one.
func ReadSmall(path string, limit int64) ([]byte, fs.FileInfo, error) {
	data, info, _, err := ReadStamped(path, limit)
	return data, info, err
}

// ReadStamped does the same as ReadSmall, and also returns the stamp that the file had before its
// contents were read. A byte order mark is left out.
func ReadStamped(path string, limit int64) ([]byte, fs.FileInfo, Stamp, error) {
	f, info, err := OpenRegular(path)
	if err != nil {
		return nil, nil, Stamp{}, err
	}
	defer f.Close()
	stamp := StampOfOpen(f, info)
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: over %d KB", ErrTooLarge, limit>>10)}
	}
	return WithoutMark(data), info, stamp, err
}

// LastLines calls fn with the lines of the regular file at path, the last one first, until fn returns
// false. It leaves out lines over MaxLine.
func LastLines(ctx context.Context, path string, fn func(line []byte) bool) error {
	f, info, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for back := Backward(f, info.Size(), 0).WithContext(ctx); ; {
		line, _, err := back.Prev()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrTooLong):
		case err != nil:
			return err
		case !fn(line):
			return nil
		}
	}
}

// readers is the number of files that are read at the same time, to keep a disk busy.
const readers = 6

// Parallel calls fn(0) to fn(n-1), several at a time and in about this order, and waits.
func Parallel(n int, fn func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, readers) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// Ended returns the error of ctx, also where its deadline has passed and no timer could run yet, as on a busy machine.
func Ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// batch is the number of entries of a folder that are read between two looks at the context.
const batch = 1000

// Entries returns the entries of a folder, sorted by name. It never waits for a pipe, and returns the error of CheckFolder for what is
// no folder. When ctx ends first, it returns those that were read by then, and the error of ctx.
func Entries(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	f, err := Open(dir)
	if err != nil {
		return nil, cmp.Or(CheckFolder(dir), err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.IsDir() {
		return nil, notFolder(dir, info)
	}
	var all []fs.DirEntry
	for err = Ended(ctx); err == nil; err = cmp.Or(err, Ended(ctx)) {
		var some []fs.DirEntry
		some, err = f.ReadDir(batch)
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}
