package launch

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/app/store"
)

// cache keeps records that were read. Most launches of a day have ended, and their records no longer change. It is safe
// for concurrent use.
type cache struct {
	mu     sync.Mutex
	read   map[string]cached // by launch
	last   []Record          // what readable returned when the folder could last be read
	damage error             // damage that no call has returned yet
}

type cached struct {
	info   fs.FileInfo
	record Record
}

// settled is the age from which a file is cached. Two writes within one tick of the file system's clock have the same
// time.
const settled = time.Second

// folderError is returned when the folder of the records could not be read.
type folderError struct{ error }

func (e *folderError) Unwrap() error { return e.error }

// all reads every record. With an error it returns those that could be read; a *folderError reports that any may be
// missing.
func (l *Launches) all() ([]Record, error) {
	l.cache.mu.Lock()
	before := l.cache.read
	l.cache.mu.Unlock()
	files, err := l.records.ReadAll(func(name string, info fs.FileInfo) bool { return before[name].is(info) })
	incomplete := err != nil
	if incomplete {
		err = &folderError{err}
	}
	now := make(map[string]cached, len(files))
	list := make([]Record, 0, len(files))
	for name, file := range files {
		c := before[name]
		if !file.Same {
			c = cached{info: file.Info}
			if readErr := l.records.Decode(name, file, &c.record); errors.Is(readErr, fs.ErrNotExist) {
				continue // removed meanwhile
			} else if readErr != nil {
				err = errors.Join(err, readErr)
				continue
			}
		}
		if c.info != nil && time.Since(c.info.ModTime()) > settled {
			now[name] = c
		}
		list = append(list, c.record)
	}
	if !incomplete {
		l.cache.mu.Lock()
		l.cache.read = now
		l.cache.mu.Unlock()
	}
	return list, err
}

// is reports whether info describes the file as it was when the record was read.
func (c cached) is(info fs.FileInfo) bool {
	return c.info != nil && os.SameFile(info, c.info) && info.Size() == c.info.Size() && info.ModTime().Equal(c.info.ModTime())
}

// readable returns the records that can be read, for callers that cannot report an error. While the folder cannot be
// read, as when its file system does not answer, these are the records that were read last. A damaged file is set aside
// and so found only once; the next List returns its error.
func (l *Launches) readable() []Record {
	list, err := l.list()
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	if _, ok := errors.AsType[*folderError](err); ok {
		return slices.Clone(l.cache.last)
	}
	l.cache.last = slices.Clone(list) // a copy, since callers change their records
	l.talks.forget(list)
	if _, ok := errors.AsType[*store.DamagedError](err); ok {
		l.cache.damage = errors.Join(l.cache.damage, err)
	}
	return list
}
