package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/app/store/fault"
)

// ErrUnsafe is wrapped by every *UnsafeError.
var ErrUnsafe = errors.New("it is not used")

// UnsafeError reports a file or folder that another user may have written, or that Rollcall cannot have created.
type UnsafeError struct {
	Path string
	Why  string // "it belongs to another user (uid 1001)"
	Fix  string // advice for the user, as a sentence
}

// Error returns the path, the reason and the advice.
func (e *UnsafeError) Error() string {
	return fmt.Sprintf("%s: %s, so %v. %s", e.Path, e.Why, ErrUnsafe, e.Fix)
}

// Unwrap returns ErrUnsafe.
func (e *UnsafeError) Unwrap() error { return ErrUnsafe }

// ErrNotRegular is returned for a pipe, a device or a folder in place of a file. Nothing was read from it.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrNoReader is returned for a pipe from which no process reads.
var ErrNoReader = errors.New("no process reads from it")

// Dir is an open folder that was checked. The names that its methods take are names of files in it.
type Dir struct {
	root *os.Root
	path string
}

// OpenDir opens a folder, and the nested folders with these names. It returns an *UnsafeError unless each is a folder of
// the user's, not a link, to which no other user can write. It returns fs.ErrNotExist for a missing folder.
func OpenDir(path string, below ...string) (*Dir, error) {
	root, err := os.OpenRoot(path + asFolder)
	if err != nil {
		return nil, dirError(path, err)
	}
	d := &Dir{root, path}
	outer, err := os.Lstat(path)
	if err == nil {
		err = d.check(outer)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	for _, name := range below {
		inner, err := d.sub(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = inner
	}
	return d, nil
}

// MakeDir opens a folder like OpenDir. It creates missing folders, for the user alone.
func MakeDir(path string, below ...string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, dirError(path, err)
	}
	d, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	for _, name := range below {
		if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			d.Close()
			return nil, named(d.File(name), err)
		}
		inner, err := d.sub(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = inner
	}
	return d, nil
}

// dirError returns the reason why a folder could not be opened. It is an *UnsafeError if a file or a dangling link is in
// its place.
func dirError(path string, err error) error {
	info, lstatErr := os.Lstat(path)
	switch {
	case lstatErr != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return link(path)
	case !info.IsDir():
		return notDir(path)
	}
	return named(path, err)
}

func notDir(path string) error {
	return &UnsafeError{path, "it is not a folder", "Move it away: Rollcall creates a folder there."}
}

func link(path string) error {
	return &UnsafeError{path, "it is a link", "Replace the link by a folder or file of your own, or remove it."}
}

func (d *Dir) sub(name string) (*Dir, error) {
	root, err := d.root.OpenRoot(name + asFolder)
	if err != nil {
		if info, lstatErr := d.root.Lstat(name); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, link(d.File(name))
		} else if lstatErr == nil && !info.IsDir() {
			return nil, notDir(d.File(name))
		}
		return nil, named(d.File(name), err)
	}
	inner := &Dir{root, d.File(name)}
	outer, err := d.root.Lstat(name)
	if err == nil {
		err = inner.check(outer)
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	return inner, nil
}

// check checks the open folder. outer describes the entry with its name; if that is another folder, the name is a link.
func (d *Dir) check(outer fs.FileInfo) error {
	info, err := d.root.Stat(".")
	if err != nil {
		return named(d.path, err)
	}
	if outer.Mode()&fs.ModeSymlink != 0 || !os.SameFile(outer, info) {
		return link(d.path)
	}
	return checkOwner(d.path, info, onlyUser)
}

// Close closes the folder.
func (d *Dir) Close() { _ = d.root.Close() }

// Path returns the folder's path.
func (d *Dir) Path() string { return d.path }

// File returns the path of a file in the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

// Open opens a file for reading. It does not wait for the writer of a pipe. Its errors are fs.ErrNotExist, *UnsafeError,
// ErrNotRegular and those of the system.
func (d *Dir) Open(name string) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		if info, lstatErr := d.root.Lstat(name); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = link(d.File(name))
		} else if lstatErr == nil && info.Mode()&(fs.ModeSocket|fs.ModeDevice) != 0 {
			return nil, info, fmt.Errorf("%s: %w", d.File(name), ErrNotRegular) // a socket can't be opened
		}
		return nil, nil, named(d.File(name), err)
	}
	info, err := f.Stat()
	if err == nil {
		err = d.checkFile(name, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, info, err
	}
	return f, info, nil
}

func (d *Dir) checkFile(name string, info fs.FileInfo) error {
	outer, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return named(d.File(name), err)
	case outer.Mode()&fs.ModeSymlink != 0:
		return link(d.File(name))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", d.File(name), ErrNotRegular)
	}
	return checkOwner(d.File(name), info, onlyUser)
}

// Read reads a file of at most limit bytes. It returns ErrTooLarge for a larger one.
func (d *Dir) Read(name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := d.Open(name)
	if err != nil {
		return nil, info, err
	}
	defer func() { _ = f.Close() }()
	data, err := readAll(f, limit)
	if err != nil {
		err = named(d.File(name), err)
	}
	return data, info, err
}

// ErrTooLarge is returned for a file that is larger than the limit.
var ErrTooLarge = errors.New("it is too large")

func readAll(f *os.File, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = ErrTooLarge
	}
	return data, err
}

// Lstat returns the description of an entry. It does not follow a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(name)
	return info, named(d.File(name), err)
}

// Create creates a file for the user alone. It fails if the file exists.
func (d *Dir) Create(name string) (*os.File, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, userOnly)
	return f, named(d.File(name), err)
}

// userOnly is the mode of a file that Create creates.
const userOnly fs.FileMode = 0o600

// WriteNew creates a file with these contents and this mode, durably. It fails if the file exists. After any other error
// there is no file.
func (d *Dir) WriteNew(name string, data []byte, mode fs.FileMode) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	fault.Point("owned.write.created")
	_, err = f.Write(data)
	if err == nil && mode != userOnly {
		err = f.Chmod(mode)
	}
	err = cmp.Or(err, f.Sync(), f.Close())
	if err != nil {
		_ = d.Remove(name)
	}
	return named(d.File(name), err)
}

// Rename renames a file within the folder, and replaces the file that has the new name.
func (d *Dir) Rename(from, to string) error { return named(d.File(to), d.root.Rename(from, to)) }

// Remove removes a file or a link.
func (d *Dir) Remove(name string) error { return named(d.File(name), d.root.Remove(name)) }

// maxListings is how often Names lists a folder that changes meanwhile. fresh is the age up to which a change of a folder
// can share its time with a later one: more than a tick of the file system's clock.
const (
	maxListings = 3
	fresh       = 20 * time.Millisecond
)

// Names returns the names in the folder, unsorted. While files are replaced, a listing can leave out a name that is there
// before and after (seen on tmpfs, Linux 6.18): a folder that changes meanwhile is listed up to three times.
func (d *Dir) Names() ([]string, error) {
	seen := map[string]bool{}
	for range maxListings {
		before, err := d.root.Stat(".")
		if err != nil {
			return nil, named(d.path, err)
		}
		names, err := d.list()
		if err != nil {
			return names, err
		}
		listed := make(map[string]bool, len(names))
		for _, name := range names {
			listed[name] = true
		}
		for name := range seen {
			if listed[name] {
				continue
			}
			if _, err := d.root.Lstat(name); err == nil {
				listed[name] = true
			}
		}
		seen = listed
		after, err := d.root.Stat(".")
		if err == nil && after.ModTime().Equal(before.ModTime()) && time.Since(after.ModTime()) > fresh {
			break
		}
	}
	return slices.Collect(maps.Keys(seen)), nil
}

func (d *Dir) list() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, named(d.path, err)
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	return names, named(d.path, err)
}

// Sync makes renames in the folder durable, where the system supports that.
func (d *Dir) Sync() {
	if f, err := d.root.Open("."); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// named returns an error of the system with the file's path in place of the name of the system call.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.Is(err, ErrUnsafe), errors.Is(err, ErrNotRegular):
		return err // the error names the path
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
