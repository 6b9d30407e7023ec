package launch

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"rollcall/app/store"
)

// cache keeps what was read of records: most of a day's have ended, and are the
// same for ever. It is safe for concurrent use.
type cache struct {
	mu     sync.Mutex
	read   map[string]cached // by launch
	untold error             // damage that was found by who could not tell
}

type cached struct {
	info   fs.FileInfo
	record Record
}

// settled is how old a file has to be before it is kept: two writes within one
// tick of the file system's clock can't be told apart by their times.
const settled = time.Second

// all reads every record. With an error it returns those that could be read.
func (l *Launches) all() ([]Record, error) {
	names, err := l.records.Names()
	l.cache.mu.Lock()
	before := l.cache.read
	l.cache.mu.Unlock()
	now := make(map[string]cached, len(names))
	list := make([]Record, 0, len(names))
	for _, name := range names {
		c, readErr := l.readRecord(name, before[name])
		switch {
		case errors.Is(readErr, fs.ErrNotExist): // removed meanwhile
			continue
		case readErr != nil:
			err = errors.Join(err, readErr)
			continue
		case time.Since(c.info.ModTime()) > settled:
			now[name] = c
		}
		list = append(list, c.record)
	}
	l.cache.mu.Lock()
	l.cache.read = now
	l.cache.mu.Unlock()
	return list, err
}

// quietly is List for those who have nobody to tell of damage. A damaged file is
// set aside and found once only, so the next List tells of it.
func (l *Launches) quietly() []Record {
	list, err := l.list()
	var damaged *store.DamagedError
	if errors.As(err, &damaged) {
		l.cache.mu.Lock()
		l.cache.untold = errors.Join(l.cache.untold, err)
		l.cache.mu.Unlock()
	}
	return list
}

// damage is what was not told so far.
func (l *Launches) damage() error {
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	err := l.cache.untold
	l.cache.untold = nil
	return err
}

// readRecord reads a record, unless it is as it was. The file is looked at
// before: what is written meanwhile makes it another one the next time.
func (l *Launches) readRecord(name string, was cached) (cached, error) {
	info, err := os.Stat(l.records.File(name))
	if err != nil {
		return cached{}, err
	}
	if was.info != nil && os.SameFile(info, was.info) && info.Size() == was.info.Size() && info.ModTime().Equal(was.info.ModTime()) {
		return was, nil
	}
	c := cached{info: info}
	return c, l.records.Read(name, &c.record)
}
