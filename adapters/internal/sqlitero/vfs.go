package sqlitero

import (
	"context"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite/vfs"
)

// files is the virtual file system for SQLite: the snapshots that are being read, each
// under its own name. It has no way to write.
var files = &snapshots{}

// register registers files with SQLite, once for the lifetime of the process.
var register = sync.OnceValues(func() (string, error) {
	name, _, err := vfs.New(files)
	return name, err
})

type snapshots struct {
	last   atomic.Uint64
	byName sync.Map // *snapshot
}

func (f *snapshots) add(s *snapshot) string {
	name := "db" + strconv.FormatUint(f.last.Add(1), 36)
	f.byName.Store(name, s)
	return name
}

// Open opens the database of a snapshot or its log.
func (f *snapshots) Open(name string) (fs.File, error) {
	base, log := strings.CutSuffix(name, "-wal")
	known, _ := f.byName.Load(base)
	s, found := known.(*snapshot)
	switch {
	case !found: // also the -journal: rolling one back would take writing
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case log && s.wal == nil:
		// A database in WAL mode without a log: SQLite gets an empty log.
		return &part{ctx: s.ctx, name: name, SectionReader: io.NewSectionReader(strings.NewReader(""), 0, 0)}, nil
	case log:
		return &part{ctx: s.ctx, name: name, SectionReader: io.NewSectionReader(&readAhead{file: s.wal}, 0, s.walSize)}, nil
	}
	return &part{ctx: s.ctx, name: name, SectionReader: io.NewSectionReader(s.db, 0, s.before.db.size)}, nil
}

// part is one file of a snapshot, with the size that it had when the snapshot was
// taken.
type part struct {
	*io.SectionReader
	ctx  context.Context
	name string
}

// Read lets a cancelled context end SQLite's reading of a huge log as well.
func (p *part) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.SectionReader.Read(b)
}

func (p *part) Close() error               { return nil }
func (p *part) Stat() (fs.FileInfo, error) { return info{p.name, p.Size()}, nil }

type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o400 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

// readAheadSize is the size in bytes of the blocks of a readAhead.
const readAheadSize = 256 << 10

// readAhead reads a file in large blocks while it is read from one place onwards: SQLite reads a whole log, frame by frame, before its
// first answer. A block is as old as its first byte; what SQLite once found valid in a log does not change until the log starts again from its beginning,
// and that changes the stamp. It is used by one goroutine at a time.
type readAhead struct {
	file  io.ReaderAt
	block []byte // what was read, at the offset start
	start int64
	next  int64 // where the last read ended
}

func (r *readAhead) ReadAt(b []byte, off int64) (int, error) {
	end := off + int64(len(b))
	onwards := off == r.next
	r.next = end
	if r.has(off, end) {
		return copy(b, r.block[off-r.start:]), nil
	}
	if !onwards || len(b) > readAheadSize {
		return r.file.ReadAt(b, off)
	}
	if r.block == nil {
		r.block = make([]byte, readAheadSize)
	}
	n, err := r.file.ReadAt(r.block[:readAheadSize], off)
	r.block, r.start = r.block[:n], off
	if r.has(off, end) {
		return copy(b, r.block), nil
	}
	return copy(b, r.block), err
}

func (r *readAhead) has(off, end int64) bool {
	return off >= r.start && end <= r.start+int64(len(r.block))
}
