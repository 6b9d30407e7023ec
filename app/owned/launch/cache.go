package launch

import (
	"errors"
	"slices"
	"sync"

	"rollcall/app/store"
)

// cache keeps what was read of the records. It is safe for concurrent use.
type cache struct {
	records store.Cache[Record]

	mu     sync.Mutex
	last   []Record // what readable returned when the folder could last be read
	damage error    // damage that no call has returned yet
}

// readable returns the records that can be read, for callers that cannot report an error. While the folder cannot be
// read, as when its file system does not answer, these are the records that were read last. A damaged file is set aside
// and so found only once; the next List returns its error.
func (l *Launches) readable() []Record {
	list, err := l.list()
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	if _, ok := errors.AsType[*store.FolderError](err); ok {
		return slices.Clone(l.cache.last)
	}
	l.cache.last = slices.Clone(list) // a copy, since callers change their records
	l.talks.forget(list)
	if _, ok := errors.AsType[*store.DamagedError](err); ok {
		l.cache.damage = errors.Join(l.cache.damage, err)
	}
	return list
}
