// Package factcache stores what adapters parsed from agents' files, so that a new process need
// not read thousands of transcripts again. It holds facts of files, never a status, a request for
// the user or the identity of a process. Callers check each fact against its file at every use:
// without the cache everything is the same, only slower.
//
// Each name of the cache is one file, which is replaced as a whole by renaming. No process waits
// for another: if two processes save at the same time, the entries of one are lost, and are read
// again later. Every entry has a checksum, since nothing is synced: after a crash a file may be
// torn. A file that is damaged, or of another format, counts as empty.
package factcache

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/bounded"
)

// Folder is an open folder that belongs to the user and to which no other user can write: app/store.Dir.
type Folder interface {
	Path() string
	Open(name string) (*os.File, fs.FileInfo, error)
	Create(name string) (*os.File, error) // for the user alone; it must not exist
	Rename(from, to string) error
	Remove(name string) error
	Names() ([]string, error)
	Lstat(name string) (fs.FileInfo, error)
	Close()
}

// Cache is the folder of the cache. A nil Cache holds nothing and keeps nothing.
type Cache struct {
	open    func(create bool) (Folder, error)
	version string
	log     *slog.Logger

	mu    sync.Mutex
	files map[string]*file
	eager bool
}

// New returns the cache in the folder that open opens. With create, open makes a folder that is
// missing; without create, open returns fs.ErrNotExist for it. version is that of the program:
// what another version parsed is not used. Nothing is opened yet.
func New(open func(create bool) (Folder, error), version string, log *slog.Logger) *Cache {
	return &Cache{open: open, version: version, log: log, files: map[string]*file{}}
}

// SaveAlways makes every Flush save what was stored, however little that is. It is for tests, and
// must be called before the cache is used.
func (c *Cache) SaveAlways() { c.eager = true }

// Facts is the part of the cache that holds values of type T by the path of the file that they
// were parsed from. It is safe for concurrent use. A nil Facts holds nothing.
type Facts[T any] struct {
	file  *file
	codec codec
}

// Of returns the facts of type T with a name. format is their version: its owner raises it when
// the same fields get another meaning. A changed type changes the format by itself. c may be nil.
// All callers with one name must have the same type.
func Of[T any](c *Cache, name string, format int) *Facts[T] {
	if c == nil {
		return nil
	}
	form := codecOf(reflect.TypeFor[T]())
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[name]
	if f == nil {
		f = &file{cache: c, name: name, format: formatOf(form.shape, format, c.version)}
		c.files[name] = f
	}
	return &Facts[T]{f, form}
}

// Load returns the value that was stored for a path, by this process or an earlier one.
func (f *Facts[T]) Load(path string) (value T, ok bool) {
	if f == nil {
		return value, false
	}
	if data := f.file.load(path); data != nil {
		return f.decode(data)
	}
	return value, false
}

func (f *Facts[T]) decode(data []byte) (value T, ok bool) {
	d := decoder{rest: data}
	f.codec.read(&d, pointerTo(&value))
	if d.err != nil || len(d.rest) != 0 {
		f.file.drop("an entry can't be decoded")
		var none T
		return none, false
	}
	return value, true
}

// Store keeps a value for a path. read is the number of bytes that were read for it: the cache is
// saved when enough has been read since the last time. Store returns a number by which LoadSum finds
// this value and no other. The number is not 0, except for a nil Facts.
func (f *Facts[T]) Store(path string, value *T, read int64) (sum uint64) {
	if f == nil {
		return 0
	}
	data := f.codec.append(nil, pointerTo(value))
	f.file.store(path, data, read)
	return sumOf(data)
}

// LoadSum returns the value that was stored for a path, if that is the one for which Store returned sum.
func (f *Facts[T]) LoadSum(path string, sum uint64) (value T, ok bool) {
	if f == nil {
		return value, false
	}
	if data := f.file.load(path); data != nil && sumOf(data) == sum {
		return f.decode(data)
	}
	return value, false
}

func sumOf(data []byte) uint64 { return max(xxhash.Sum64(data), 1) }

// Flush must be called at the end of each question to an adapter. It saves what was stored, if
// that is worth it, and closes the file. last reports that the process is unlikely to ask
// again.
func (f *Facts[T]) Flush(last bool) {
	if f != nil {
		f.file.flush(last)
	}
}

const (
	// worthBytes and worthEntries are what a process that ends must have read, in bytes or files,
	// for the cache to be saved; reading that much takes longer than saving. A process that
	// continues has the facts in memory, and saves only after it has read more.
	worthBytes, worthEntries         = 1 << 20, 32
	worthBytesLater, worthCountLater = 16 << 20, 256
	savePause                        = 30 * time.Second // between two saves of one process
	maxEntry                         = 256 << 10        // bytes of one entry; a larger one is not kept
	usedAgain                        = 24               // hours after which the time of an entry's last use must be renewed
)

// file is one file of the cache, with what this process adds to it.
type file struct {
	cache  *Cache
	name   string
	format uint64

	// mu is not held while a file system is asked to save.
	mu     sync.Mutex
	looked bool   // view is that of the present question
	view   *view  // the file on disk; nil: there is none that can be used
	next   batch  // of the next save
	saving *batch // is being saved, and not changed any more; nil: none
	saved  time.Time
	gaveUp bool // a save took too long: this process saves no more
}

// batch holds what one save changes in the file on disk.
type batch struct {
	added map[string]addition
	size  int               // bytes that added takes in the file
	read  int64             // bytes that were read for added
	used  map[uint64]uint32 // keys of the entries that were used, with the hour
	aged  int               // how many of them must be renewed
}

// addition is a value that was stored, and the number of bytes that were read for it.
type addition struct {
	data []byte
	read int64
}

func keyOf(path string) uint64 { return xxhash.Sum64String(path) }

func hour(now time.Time) uint32 { return uint32(now.Unix() / 3600) }

// load returns the encoded value for a path; nil: there is none.
func (f *file) load(path string) []byte {
	f.mu.Lock()
	data := f.next.added[path].data
	if data == nil && f.saving != nil {
		data = f.saving.added[path].data
	}
	v := f.view
	if data == nil && !f.looked {
		v = f.look()
	}
	f.mu.Unlock()
	if data != nil || v == nil {
		return data
	}
	data, used, err := v.find(path)
	if err != nil {
		f.drop(err.Error())
		return nil
	}
	if data != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.next.use(keyOf(path), used, hour(time.Now()))
	}
	return data
}

// use records that an entry is used now. before is the hour of its last use.
func (b *batch) use(key uint64, before, now uint32) {
	if b.used == nil {
		b.used = map[uint64]uint32{}
	}
	if _, again := b.used[key]; !again && now-before >= usedAgain {
		b.aged++
	}
	b.used[key] = now
}

// look opens the file on disk for the present question. The caller has the lock, for at most
// twice openLimit.
func (f *file) look() *view {
	f.looked = true
	v, damage := f.openView()
	if damage != nil {
		f.damaged(damage.Error())
	}
	f.view = v
	return v
}

// drop gives up the file on disk, which is damaged.
func (f *file) drop(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view == nil {
		return // another goroutine did
	}
	f.view = nil // not closed: others may be reading
	f.damaged(why)
}

// damaged reports the file on disk and removes it. The caller has the lock.
func (f *file) damaged(why string) {
	path, err := inFolder(f, false, openLimit, func(left context.Context, dir Folder) (string, error) {
		if left.Err() == nil {
			_ = dir.Remove(f.name)
		}
		return dir.Path() + string(os.PathSeparator) + f.name, nil
	})
	if err != nil {
		path = f.name
	}
	if f.cache.log != nil {
		f.cache.log.Warn("the cache of facts is damaged and is made again; nothing is lost", "file", path, "damage", why)
	}
}

func (f *file) store(path string, data []byte, read int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gaveUp {
		return
	}
	b := &f.next
	if b.added == nil {
		b.added = map[string]addition{}
	}
	if old, again := b.added[path]; again {
		b.size -= sizeOf(path, old.data)
		b.read -= old.read
		read += old.read
		delete(b.added, path)
	}
	// More than fits into the file would only take memory.
	if size := sizeOf(path, data); len(data) <= maxEntry && b.size+size <= maxFileSize {
		b.added[path] = addition{data, read}
		b.size += size
		b.read += read
	}
}

// sizeOf returns about how many bytes an entry takes in the file.
func sizeOf(path string, data []byte) int { return recordLen + len(path) + len(data) }

// flush saves what was added, if that is worth it, and forgets the file on disk. It waits for a
// file system that does not answer for at most openLimit and saveLimit.
func (f *file) flush(last bool) {
	f.mu.Lock()
	v, b := f.view, f.next
	f.looked, f.view = false, nil
	isDue := last || f.cache.eager || time.Since(f.saved) >= savePause
	save := f.saving == nil && !f.gaveUp && isDue && f.isWorth(len(b.added), b.read, b.aged, last)
	if save {
		f.saving = &b
		f.next = batch{}
		f.saved = time.Now()
	}
	f.mu.Unlock()
	if v != nil {
		v.close()
	}
	if !save {
		return
	}
	err := f.save(&b)
	f.mu.Lock()
	defer f.mu.Unlock()
	// The entries are not kept for another try: with a full disk or a folder that is read only,
	// they would only take memory.
	f.saving = nil
	f.gaveUp = errors.Is(err, bounded.ErrNoAnswer)
	if f.gaveUp {
		f.next = batch{}
	}
	if err != nil && f.cache.log != nil {
		f.cache.log.Debug("the cache of facts could not be saved", "error", err)
	}
}

// isWorth reports whether a save is worth its cost: it would add entries, for which read bytes were read, and renew aged ones.
func (f *file) isWorth(added int, read int64, aged int, last bool) bool {
	if f.cache.eager {
		return added+aged > 0
	}
	read += int64(aged) * (worthBytes / worthEntries)
	if last {
		return read >= worthBytes || added >= worthEntries
	}
	return read >= worthBytesLater || added >= worthCountLater
}
