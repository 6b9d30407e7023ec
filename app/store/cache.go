package store

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Cache keeps the values of a folder that were read, until their files change. Its zero value is empty. It is safe for concurrent use.
type Cache[T any] struct {
	mu   sync.Mutex
	read map[string]cached[T] // by name
}

type cached[T any] struct {
	info  fs.FileInfo
	value T
}

// settled is the age from which a file is cached. Two writes within one tick of the file system's clock have the same time.
const settled = time.Second

// is reports whether info describes the file as it was when the value was read.
func (c cached[T]) is(info fs.FileInfo) bool {
	return c.info != nil && os.SameFile(info, c.info) && info.Size() == c.info.Size() && info.ModTime().Equal(c.info.ModTime())
}

// FolderError is returned when a folder could not be read, so that any of its values may be missing.
type FolderError struct{ error }

func (e *FolderError) Unwrap() error { return e.error }

// All reads every value of a folder, by name. The error reports the values that could not be read.
func All[T any](f Folder) (map[string]T, error) { return new(Cache[T]).All(f) }

// All reads every value of a folder, by name, except for those whose files have not changed since the last call. The error reports the values that
// could not be read; a *FolderError reports that any may be missing. What the values point to is shared by all calls.
func (c *Cache[T]) All(f Folder) (map[string]T, error) {
	c.mu.Lock()
	before := c.read
	c.mu.Unlock()
	files, err := look(f, func(d *Dir) (map[string]raw, error) {
		names, err := valueNames(d)
		files := make(map[string]raw, len(names))
		for _, name := range names {
			if info, err := d.Lstat(name + suffix); err == nil && before[name].is(info) {
				files[name] = raw{info: info, same: true}
			} else {
				files[name] = f.raw(d, name)
			}
		}
		return files, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		files, err = nil, nil
	}
	incomplete := err != nil
	if incomplete {
		err = &FolderError{err}
	}
	read, out := make(map[string]cached[T], len(files)), make(map[string]T, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, value := files[name], before[name]
		if !file.same {
			value = cached[T]{info: file.info}
			if readErr := f.decodeNow(name, file, &value.value); errors.Is(readErr, fs.ErrNotExist) {
				continue // removed meanwhile
			} else if readErr != nil {
				err = errors.Join(err, readErr)
				continue
			}
		}
		if value.info != nil && time.Since(value.info.ModTime()) > settled {
			read[name] = value
		}
		out[name] = value.value
	}
	if !incomplete {
		c.mu.Lock()
		c.read = read
		c.mu.Unlock()
	}
	return out, err
}

// decodeNow is decode, but reads the file again if another one has taken its place.
func (f Folder) decodeNow(name string, file raw, v any) error {
	err := f.decode(name, file, v)
	if errors.Is(err, errReplaced) {
		reflect.ValueOf(v).Elem().SetZero()
		return f.Read(name, v)
	}
	return err
}
