package agentfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"
)

const (
	growthLimit = 8 << 20 // more new bytes than this are read as if the file were new
	edgeLen     = 1 << 10
)

// State identifies the part of a file that was read. It is a part of what is kept between
// processes.
type State struct {
	Stamp Stamp // of the file when it was read last; zero: never
	Next  int64 // the complete lines up to here were read
	// FirstSum is the hash of the first EdgeLen bytes, and LastSum that of the last EdgeLen bytes
	// before Next. A file that was written again in place, or that got the inode of a removed
	// file, may have the same last bytes, but differs at its beginning.
	EdgeLen           int64
	FirstSum, LastSum uint64
}

// File is the state of reading a file in steps. What was read stays valid while the file and
// its bytes before Next are the same. Only the holder of the lock may use it.
type File struct {
	Path string
	State

	lock   chan struct{}
	opened Stamp // of the file that is being read
}

// NewFile returns a File of which nothing was read yet.
func NewFile(path string) File { return File{Path: path, lock: make(chan struct{}, 1)} }

// Acquire locks the file, unless ctx is done first.
func (f *File) Acquire(ctx context.Context) error {
	select {
	case f.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release unlocks the file.
func (f *File) Release() { <-f.lock }

// IsCurrent reports whether nothing changed since the last read.
func (f *File) IsCurrent(info fs.FileInfo) bool {
	return !f.Stamp.IsZero() && f.Stamp.Size == info.Size() && f.Stamp.Unchanged(StampOf(f.Path, info))
}

// Complete returns the state to keep between processes. A last line without a line feed, whose text is not kept, counts in it as added later: the next process
// reads on from there.
func (f *File) Complete() State {
	s := f.State
	if !s.Stamp.IsZero() {
		s.Stamp.Size = s.Next
	}
	return s
}

// Begin records the stamp of the file that was opened. It must be called right after info was read from the file.
func (f *File) Begin(file *os.File, info fs.FileInfo) { f.opened = StampOfOpen(file, info) }

// IsOpenedCurrent reports whether nothing changed from the last read to Begin.
func (f *File) IsOpenedCurrent() bool { return f.Stamp.Unchanged(f.opened) }

// IsOpened reports whether the file that was opened is the one that was read last, which may have
// changed since.
func (f *File) IsOpened() bool { return f.Stamp.SameFile(f.opened) }

// Reset forgets everything that was read.
func (f *File) Reset() { f.State = State{} }

// HasGrown reports whether the open file is the known one with something appended, so
// that reading can continue at Next.
func (f *File) HasGrown(file io.ReaderAt) bool {
	size := f.opened.Size
	if !f.Stamp.SameFile(f.opened) || size <= f.Stamp.Size || size-f.Next > growthLimit || f.EdgeLen > f.Next {
		return false
	}
	first, last, err := hashEdges(file, f.EdgeLen, f.Next)
	return err == nil && first == f.FirstSum && last == f.LastSum
}

// hashEdges returns the hashes of the first n bytes of the file and of the n bytes before next.
func hashEdges(file io.ReaderAt, n, next int64) (first, last uint64, err error) {
	edge := make([]byte, n)
	if _, err := file.ReadAt(edge, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	first = xxhash.Sum64(edge)
	if _, err := file.ReadAt(edge, next-n); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	return first, xxhash.Sum64(edge), nil
}

// Finish records that the complete lines up to Next were read. It returns the
// unfinished line after them, if it has at most limit bytes. A file that has become
// shorter meanwhile gives io.ErrUnexpectedEOF.
func (f *File) Finish(file io.ReaderAt, info fs.FileInfo, limit int64) (rest []byte, err error) {
	f.EdgeLen = min(edgeLen, f.Next)
	f.FirstSum, f.LastSum, err = hashEdges(file, f.EdgeLen, f.Next)
	if err != nil {
		return nil, err
	}
	if n := info.Size() - f.Next; n > 0 && n <= limit {
		rest = make([]byte, n)
		if _, err := file.ReadAt(rest, f.Next); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("it was cut short while it was read: %w", io.ErrUnexpectedEOF)
		} else if err != nil {
			return nil, err
		}
	}
	f.Stamp = f.opened
	return rest, nil
}

// maxCached is the largest number of files whose facts a Cache keeps, about 1 KB for
// each.
const maxCached = 30_000

// Cache keeps values by path. It is not safe for concurrent use.
type Cache[T any] struct {
	files    map[string]*cached[T]
	question uint64 // counts the questions
}

type cached[T any] struct {
	value T
	used  uint64 // the question that needed it last
}

// Get returns the value for path, made by fresh if there is none.
func (c *Cache[T]) Get(path string, fresh func(path string) T) T {
	if c.files == nil {
		c.files = make(map[string]*cached[T])
	}
	f := c.files[path]
	if f == nil {
		f = &cached[T]{value: fresh(path)}
		c.files[path] = f
	}
	f.used = c.question
	return f.value
}

// Trim must be called at the end of each question. If there are too many values, it
// drops as few as necessary of those that the last questions did not need.
func (c *Cache[T]) Trim() {
	c.question++
	for back := uint64(8); len(c.files) > maxCached && back > 0; back /= 2 {
		for path, f := range c.files {
			if f.used+back < c.question {
				delete(c.files, path)
			}
		}
	}
}
