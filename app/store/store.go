// Package store keeps the small files that Rollcall owns: one JSON value a file,
// private to the user. A file is replaced as a whole or not at all, whatever
// happens meanwhile; one that can't be read is set aside, never overwritten.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	// guardPause is how often a lock that another process holds is tried.
	guardPause = 5 * time.Millisecond
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

// Lock waits until no other holder of the folder is left, in this process or in
// another, or until ctx is done. A holder that dies lets go.
func (f Folder) Lock(ctx context.Context) (unlock func(), err error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	// One lock object per call: the kernel's locks belong to the open file, so
	// goroutines of one process exclude each other as processes do.
	l := flock.New(filepath.Join(f.path, guard), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, guardPause)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("lock %s: %w", f.path, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", f.path, ctx.Err())
	}
	return func() { _ = l.Close() }, nil
}

// Make makes the folder, for the user alone.
func (f Folder) Make() error {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	return nil
}

// Write replaces the value, atomically and durably.
func (f Folder) Write(name string, v any) (err error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", f.File(name), err)
	}
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

// Read reads the value into v. Its errors are fs.ErrNotExist, *DamagedError for
// a file that was set aside, and those of the file system.
func (f Folder) Read(name string, v any) error {
	path := f.File(name)
	var data []byte
	err := patiently(func() (err error) {
		data, err = readFile(path)
		return err
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return f.setAside(name, err)
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("%s: larger than anything Rollcall writes", path)
	}
	return data, err
}

// setAside moves a damaged file out of the way.
func (f Folder) setAside(name string, why error) error {
	e := &DamagedError{Path: f.File(name), Err: why}
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
