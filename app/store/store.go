// Package store keeps the small files that Rollcall owns: one JSON value a file,
// private to the user. A file is replaced as a whole or not at all, whatever
// happens meanwhile; one that can't be read is set aside, never overwritten.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"rollcall/app/fault"
)

// Folder is a folder of such files. It is a value; methods may be called by any
// goroutine of any process. Single reads and writes need no lock: a reader sees
// the former value or the new one. Whoever reads, decides and writes holds Lock.
type Folder struct{ path string }

// In returns the folder at this path. It is made by the first write.
func In(path string) Folder { return Folder{path} }

// Path is where the folder lies.
func (f Folder) Path() string { return f.path }

// File is the path of a value's file.
func (f Folder) File(name string) string { return filepath.Join(f.path, name+suffix) }

const (
	suffix    = ".json"
	temporary = ".tmp-"
	damaged   = ".damaged-"
	guard     = ".lock"
	// maxSize is far above what Rollcall writes.
	maxSize = 8 << 20
	// guardPause is how often a lock that another process holds is tried, and
	// guardLimit how long: nobody works so long under it, so its holder hangs.
	guardPause = 5 * time.Millisecond
	guardLimit = 30 * time.Second
	// tmpAge is when a temporary file belongs to a writer that died.
	tmpAge = time.Hour
)

// DamagedError says that a file could not be understood, and where it was put.
type DamagedError struct {
	Path  string
	Aside string // where it lies now; empty: it could not be moved
	Err   error
}

func (e *DamagedError) Error() string {
	if e.Aside == "" {
		return fmt.Sprintf("%s is damaged: %v (remove it by hand)", e.Path, e.Err)
	}
	return fmt.Sprintf("%s was damaged: %v (set aside as %s)", e.Path, e.Err, filepath.Base(e.Aside))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ErrNewer says that a file was written by a later Rollcall than this one, which
// leaves it alone: it would lose what it doesn't know.
var ErrNewer = errors.New("written by a newer Rollcall; update this one")

// schema is the form of the files. One without a number has the first.
const schema = 1

// Checker is a value that knows the name of its own file. One that was read from
// another is nothing that Rollcall wrote, and is damaged.
type Checker interface{ Check(name string) error }

// Lock waits until no other holder of the folder is left, in this process or in
// another, or until ctx is done or the holder seems to hang. A holder that dies
// lets go.
func (f Folder) Lock(ctx context.Context) (unlock func(), err error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, guardLimit, fmt.Errorf("another Rollcall has held it for %s: does one hang?", guardLimit))
	defer cancel()
	// One lock object per call: the kernel's locks belong to the open file, so
	// goroutines of one process exclude each other as processes do.
	l := flock.New(filepath.Join(f.path, guard), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, guardPause)
	if err == nil && !ok {
		err = ctx.Err()
	}
	if err != nil {
		_ = l.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("lock %s: %w", f.path, err)
	}
	return func() { _ = l.Close() }, nil
}

// Make makes the folder, for the user alone.
func (f Folder) Make() error { return os.MkdirAll(f.path, 0o700) }

// Write replaces the value, atomically and durably.
func (f Folder) Write(name string, v any) (err error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", f.File(name), err)
	}
	data = numbered(data)
	if err := f.Make(); err != nil {
		return err
	}
	fault.Point("store.write.begin")
	tmp, err := os.CreateTemp(f.path, name+temporary)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", f.File(name), err)
		}
	}()
	fault.Point("store.write.created")
	_, err = tmp.Write(append(data, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	fault.Point("store.write.synced")
	if err = patiently(func() error { return os.Rename(tmp.Name(), f.File(name)) }); err != nil {
		return err
	}
	fault.Point("store.write.renamed")
	syncFolder(f.path)
	return nil
}

// numbered puts the number of the form before the fields of an object.
func numbered(data []byte) []byte {
	fields, ok := bytes.CutPrefix(data, []byte("{\n"))
	if !ok {
		return data
	}
	return append(fmt.Appendf(nil, "{\n  \"schema\": %d,\n", schema), fields...)
}

// Read reads the value into v. Its errors are fs.ErrNotExist, *DamagedError for
// a file that was set aside, ErrNewer, and those of the file system.
func (f Folder) Read(name string, v any) error {
	for {
		err := f.read(name, v)
		if !errors.Is(err, errReplaced) {
			return err
		}
		reflect.ValueOf(v).Elem().SetZero()
	}
}

func (f Folder) read(name string, v any) error {
	var data []byte
	var info fs.FileInfo
	err := patiently(func() (err error) {
		data, info, err = readFile(f.File(name))
		return err
	})
	if errors.Is(err, errForeign) {
		return f.setAside(name, info, err)
	}
	if err != nil {
		return err
	}
	var form struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(data, &form) == nil && form.Schema > schema {
		return fmt.Errorf("%s: %w", f.File(name), ErrNewer)
	}
	if err = json.Unmarshal(data, v); err == nil {
		if c, ok := v.(Checker); ok {
			err = c.Check(name)
		}
	}
	if err != nil {
		return f.setAside(name, info, err)
	}
	return nil
}

// errReplaced says that a damaged file is no longer there.
var errReplaced = errors.New("replaced")

// errForeign says that a file can't be one of Rollcall's.
var errForeign = errors.New("nothing that Rollcall writes")

func readFile(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path) // before it is opened: to open a pipe may take for ever
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, fmt.Errorf("%w: it is no regular file", errForeign)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("%w: it is too large", errForeign)
	}
	return data, info, err
}

// setAside moves a damaged file out of the way, unless a sound one has taken its
// place since it was read (errReplaced).
func (f Folder) setAside(name string, read fs.FileInfo, why error) error {
	e := &DamagedError{Path: f.File(name), Err: why}
	if now, err := os.Stat(e.Path); err != nil || !os.SameFile(now, read) {
		return errReplaced
	}
	aside := f.File(name) + damaged + time.Now().UTC().Format("20060102T150405.000000000")
	if patiently(func() error { return os.Rename(e.Path, aside) }) == nil {
		e.Aside = aside
	}
	return e
}

// Remove removes the value. One that isn't there is no error.
func (f Folder) Remove(name string) error {
	err := patiently(func() error { return os.Remove(f.File(name)) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fault.Point("store.removed")
	return err
}

// Names lists the values, sorted. A folder that isn't there has none.
func (f Folder) Names() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if ok && !strings.Contains(name, temporary) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// Sweep removes what writers that died left behind.
func (f Folder) Sweep(now time.Time) error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if strings.Contains(e.Name(), temporary) && statErr == nil && now.Sub(info.ModTime()) > tmpAge {
			err = errors.Join(err, os.Remove(filepath.Join(f.path, e.Name())))
		}
	}
	return err
}

// All reads every value of a folder, by its name. Those that can't be read are
// left out and told in the error.
func All[T any](f Folder) (map[string]T, error) {
	names, err := f.Names()
	out := make(map[string]T, len(names))
	for _, name := range names {
		var v T
		switch readErr := f.Read(name, &v); {
		case errors.Is(readErr, fs.ErrNotExist): // removed meanwhile
		case readErr != nil:
			err = errors.Join(err, readErr)
		default:
			out[name] = v
		}
	}
	return out, err
}
