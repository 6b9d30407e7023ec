package sqlitero

import "io"

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
