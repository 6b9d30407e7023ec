package factcache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"rollcall/bounded"
)

// A file of the cache is a header, an index with a record for each entry, sorted by key, and the
// entries. All numbers are little-endian. An entry is the path and the encoded value.
//
//	header: magic [16], format 8, entries 8, checksum of the index 8, checksum of these 40 bytes 8
//	index:  key 8, offset 8, length 4, hour of the last use 4, checksum of the entry 8
const (
	magic       = "rollcall facts 1"
	headerLen   = len(magic) + 32
	recordLen   = 32
	maxFileSize = 12 << 20
	temporary   = ".tmp"
	tmpAge      = 10 * time.Minute // after this time a temporary file belongs to a process that died
)

// openLimit and saveLimit are the times that the file system may take to open the file and read
// its index, and to save. After that the answer is given without the cache.
const (
	openLimit = 500 * time.Millisecond
	saveLimit = 3 * time.Second
)

func pointerTo[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// formatOf returns the number of a format: of the form of the values, their version and the
// program's.
func formatOf(shape string, format int, version string) uint64 {
	return xxhash.Sum64String(fmt.Sprintf("%d\x00%s\x00%s", format, version, shape))
}

// view is a file of the cache that is open for reading. Renaming another file over it does not
// change it.
type view struct {
	f     *os.File
	index []byte
	size  int64
}

// record is one record of the index.
type record struct {
	key, offset uint64
	length      uint32
	used        uint32
	sum         uint64
}

func (v *view) len() int { return len(v.index) / recordLen }

func (v *view) at(i int) record {
	b := v.index[i*recordLen:]
	le := binary.LittleEndian
	return record{le.Uint64(b), le.Uint64(b[8:]), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint64(b[24:])}
}

func (r record) append(to []byte) []byte {
	le := binary.LittleEndian
	return le.AppendUint64(le.AppendUint32(le.AppendUint32(le.AppendUint64(le.AppendUint64(to, r.key), r.offset), r.length), r.used), r.sum)
}

// check returns an error for a record that does not fit into the file.
func (v *view) check(r record) error {
	if r.offset > uint64(v.size) || uint64(r.length) > uint64(v.size)-r.offset {
		return fmt.Errorf("an entry is beyond the end: %w", errDamaged)
	}
	return nil
}

// find returns the encoded value for a path and the hour of its last use; nil: there is none.
func (v *view) find(path string) (data []byte, used uint32, err error) {
	key := keyOf(path)
	i, found := sort.Find(v.len(), func(i int) int { return cmp.Compare(key, v.at(i).key) })
	if !found {
		return nil, 0, nil
	}
	r := v.at(i)
	if err := v.check(r); err != nil {
		return nil, 0, err
	}
	entry := make([]byte, r.length)
	switch _, err := v.f.ReadAt(entry, int64(r.offset)); {
	case errors.Is(err, os.ErrClosed):
		return nil, 0, nil // closed at the end of the question, which no longer waits for the value
	case err != nil:
		return nil, 0, fmt.Errorf("an entry can't be read: %w", err)
	}
	if xxhash.Sum64(entry) != r.sum {
		return nil, 0, fmt.Errorf("an entry has another checksum: %w", errDamaged)
	}
	name, value, err := split(entry)
	if err != nil || name != path { // another path with the same hash
		return nil, 0, err
	}
	return value, r.used, nil
}

// split returns the path and the value of an entry.
func split(entry []byte) (path string, value []byte, err error) {
	d := decoder{rest: entry}
	readString(&d, pointerTo(&path))
	return path, d.rest, d.err
}

// parse reads header and index. It returns nil without an error for a file of another format.
func parse(f *os.File, size int64, format uint64) (*view, error) {
	if size > 2*maxFileSize {
		return nil, fmt.Errorf("it is too large: %w", errDamaged)
	}
	header := make([]byte, headerLen)
	if _, err := f.ReadAt(header, 0); err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	if string(header[:len(magic)]) != magic {
		return nil, fmt.Errorf("another header: %w", errDamaged)
	}
	le, rest := binary.LittleEndian, header[len(magic):]
	if xxhash.Sum64(header[:headerLen-8]) != le.Uint64(rest[24:]) {
		return nil, fmt.Errorf("the header has another checksum: %w", errDamaged)
	}
	if le.Uint64(rest) != format {
		return nil, nil
	}
	entries := le.Uint64(rest[8:])
	if entries > uint64(size)/recordLen {
		return nil, fmt.Errorf("the index is cut off: %w", errDamaged)
	}
	v := &view{f: f, size: size, index: make([]byte, entries*recordLen)}
	if _, err := f.ReadAt(v.index, int64(headerLen)); err != nil && (entries > 0 || !errors.Is(err, io.EOF)) {
		return nil, fmt.Errorf("the index is cut off: %w", err)
	}
	if xxhash.Sum64(v.index) != le.Uint64(rest[16:]) {
		return nil, fmt.Errorf("the index has another checksum: %w", errDamaged)
	}
	return v, nil
}

// callKey is the key by which package bounded identifies the calls of the cache that do not
// return. One key is enough, since all files of the cache are in one folder.
const callKey = "cache of facts"

// inFolder calls use with the open folder of the cache, and gives up a file system that does not
// answer. Once left is done, use must not change anything.
func inFolder[T any](f *file, create bool, limit time.Duration, use func(left context.Context, dir Folder) (T, error)) (T, error) {
	return bounded.In(callKey, limit, func(left context.Context) (value T, err error) {
		dir, err := f.cache.open(create)
		if err != nil {
			return value, err
		}
		defer dir.Close()
		return use(left, dir)
	})
}

// openView opens the file on disk. It returns nil if there is no file that can be used, or if
// the file system does not answer. damage says what is wrong with a damaged file.
func (f *file) openView() (v *view, damage error) {
	type opened struct {
		view   *view
		damage error
	}
	o, err := inFolder(f, false, openLimit, func(left context.Context, dir Folder) (o opened, err error) {
		o.view, o.damage = f.viewIn(dir)
		if o.view != nil && left.Err() != nil {
			_ = o.view.f.Close()
			o.view = nil
		}
		return o, nil
	})
	if err != nil {
		return nil, nil
	}
	return o.view, o.damage
}

func (f *file) viewIn(dir Folder) (*view, error) {
	open, info, err := dir.Open(f.name)
	if err != nil {
		return nil, nil
	}
	v, err := parse(open, info.Size(), f.format)
	if v == nil {
		_ = open.Close()
	}
	return v, err
}

// close closes the file. If the file system does not answer, the garbage collector closes it later.
func (v *view) close() {
	_, _ = bounded.In(callKey, openLimit, func(context.Context) (struct{}, error) { return struct{}{}, v.f.Close() })
}

// entry is one entry of the file that is to be written.
type entry struct {
	record
	old   bool  // it is copied from the file on disk
	known bool  // the file on disk has an entry with its key
	read  int64 // of a new one: bytes that were read for it
	data  []byte
}

// save writes a file with the entries on disk and those of b. It returns bounded.ErrNoAnswer
// after saveLimit.
func (f *file) save(b *batch) error {
	_, err := inFolder(f, true, saveLimit, func(left context.Context, dir Folder) (struct{}, error) {
		return struct{}{}, f.saveIn(left, dir, b)
	})
	return err
}

func (f *file) saveIn(left context.Context, dir Folder, b *batch) error {
	sweep(dir)
	v, _ := f.viewIn(dir) // a damaged one is replaced
	if v != nil {
		defer v.f.Close()
	}
	entries := b.merge(v)
	if added, read := kept(entries); !f.isWorth(added, read, b.aged, true) || left.Err() != nil {
		return nil
	}
	name := fmt.Sprintf("%s.%016x%s", f.name, rand.Uint64(), temporary)
	tmp, err := dir.Create(name)
	if err != nil {
		return err
	}
	err = cmp.Or(write(tmp, f.format, entries, v), tmp.Close(), left.Err())
	if err == nil {
		err = dir.Rename(name, f.name)
	}
	if err != nil {
		_ = dir.Remove(name)
	}
	return err
}

// kept returns the number of new entries, and how many bytes were read for them.
func kept(entries []entry) (added int, read int64) {
	for i := range entries {
		if !entries[i].old {
			added++
			read += entries[i].read
		}
	}
	return added, read
}

// merge returns the entries of the next file, sorted by key: those used last, as far as there is
// room. New entries do not replace entries of the file that were used in this hour: otherwise a
// process that needs more entries than fit would write the file again each time.
func (b *batch) merge(v *view) []entry {
	now := hour(time.Now())
	all := make([]entry, 0, len(b.added))
	at := make(map[uint64]int, len(b.added)) // by key
	for path, one := range b.added {
		data := append(appendString(nil, pointerTo(&path)), one.data...)
		key := keyOf(path)
		if _, double := at[key]; double {
			continue // of two paths with the same hash, one is kept
		}
		at[key] = len(all)
		all = append(all, entry{record: record{key: key, length: uint32(len(data)), used: now, sum: xxhash.Sum64(data)}, read: one.read, data: data})
	}
	for i := 0; v != nil && i < v.len(); i++ {
		r := v.at(i)
		if n, again := at[r.key]; again {
			all[n].known = true
			continue
		}
		if v.check(r) != nil {
			continue
		}
		if used, again := b.used[r.key]; again {
			r.used = used
		}
		all = append(all, entry{record: r, old: true, known: true})
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.used == b.used && a.known != b.known {
			if a.known {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.used, a.used), cmp.Compare(a.key, b.key))
	})
	size := headerLen
	for i := range all {
		size += recordLen + int(all[i].length)
		if size > maxFileSize {
			all = all[:i]
			break
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return all
}

// write writes a file. Old entries are copied from v.
func write(to io.Writer, format uint64, entries []entry, v *view) error {
	offset := uint64(headerLen + len(entries)*recordLen)
	body := bytes.NewBuffer(make([]byte, 0, headerLen+len(entries)*(recordLen+1024)))
	index := make([]byte, 0, len(entries)*recordLen)
	for i := range entries {
		r := entries[i].record
		r.offset = offset
		index = r.append(index)
		offset += uint64(r.length)
	}
	le := binary.LittleEndian
	header := le.AppendUint64(le.AppendUint64(le.AppendUint64([]byte(magic), format), uint64(len(entries))), xxhash.Sum64(index))
	body.Write(le.AppendUint64(header, xxhash.Sum64(header)))
	body.Write(index)
	for i := range entries {
		e := &entries[i]
		if e.old {
			start := body.Len()
			body.Write(make([]byte, e.length))
			if _, err := v.f.ReadAt(body.Bytes()[start:], int64(e.offset)); err != nil {
				return err
			}
		} else {
			body.Write(e.data)
		}
	}
	_, err := to.Write(body.Bytes())
	return err
}

// sweep removes the temporary files of processes that died.
func sweep(dir Folder) {
	names, err := dir.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasSuffix(name, temporary) {
			continue
		}
		info, err := dir.Lstat(name)
		if err == nil && time.Since(info.ModTime()) > tmpAge && info.Mode()&fs.ModeType == 0 {
			_ = dir.Remove(name)
		}
	}
}
