package agentfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
)

const (
	firstChunk = 16 << 10
	lastChunk  = 1 << 20
	// lastBackward is what a backward reader reads at a time at most: its buffer has twice of that.
	lastBackward = 256 << 10
)

// backwardBuffers holds the buffers of readers that were closed, so that a list of thousands of
// files needs few new buffers.
var backwardBuffers sync.Pool // of *[]byte

// BackwardReader reads the lines of a file from its end. Its memory is a few
// chunks, or the longest line that it returns. It is for one goroutine.
type BackwardReader struct {
	ctx     context.Context
	r       io.ReaderAt
	maxLine int
	chunk   int
	buf     []byte // the buffered bytes are buf[lo:hi]; the bytes before lo are free
	lo, hi  int
	base    int64 // file offset of buf[lo]
	partial bool
	first   bool // nothing returned yet
}

// Backward starts reading at size, which is usually the file's size; it does not read
// what is appended later. Lines over maxLine bytes (0: MaxLine) are reported as
// *LongLine.
func Backward(r io.ReaderAt, size int64, maxLine int) *BackwardReader {
	return &BackwardReader{
		ctx: context.Background(), r: r, maxLine: cmp.Or(maxLine, MaxLine),
		base: size, chunk: firstChunk, first: true,
	}
}

// WithContext makes Prev return ctx's error once ctx is done, also in the middle of a very long
// line.
func (b *BackwardReader) WithContext(ctx context.Context) *BackwardReader {
	b.ctx = ctx
	return b
}

// Close gives the reader's buffer to the next reader. A line that Prev returned is no
// longer valid, and Prev must not be called again. A reader that is not closed leaves
// its buffer to the garbage collector.
func (b *BackwardReader) Close() {
	if 0 < len(b.buf) && len(b.buf) <= 2*lastBackward {
		buf := b.buf
		backwardBuffers.Put(&buf)
	}
	b.buf = nil
	b.lo = 0
	b.hi = 0
	b.base = 0
}

// Partial reports whether the line that Prev returned last is the file's last one
// and has no newline: it may still be being written.
func (b *BackwardReader) Partial() bool { return b.partial }

// Prev returns the line before the one returned last, without its newline, and
// the offset of its first byte. Empty lines are left out. The line is valid
// until the next call.
//
// At the beginning of the file it returns io.EOF. A line over the cap gives a *LongLine
// with that line's offset; call Prev again to continue, unless it is Endless: then the
// next call returns io.EOF. Any other error is final; a file that was cut short
// meanwhile gives io.ErrUnexpectedEOF.
func (b *BackwardReader) Prev() (line []byte, offset int64, err error) {
	for {
		b.partial = false
		if b.hi == b.lo && b.base == 0 {
			return nil, 0, io.EOF
		}
		terminated, err := b.dropNewline()
		if err != nil {
			return nil, 0, err
		}
		line, offset, err = b.lastLine()
		if err != nil && !errors.Is(err, ErrTooLong) {
			return nil, 0, err
		}
		b.partial = b.first && !terminated
		b.first = false
		if err != nil || len(line) > 0 {
			return line, offset, err
		}
	}
}

// Tail calls do with the lines that begin at from or later, from the last to the first, until do returns false. long describes a line over the cap, which is
// nil then. A last line without a newline is left out, unless it is over the cap. next is the end of the last complete line; all reports that do
// was called with each line. It must be called first, and Prev may be called after it.
func (b *BackwardReader) Tail(from int64, do func(line []byte, offset int64, long *LongLine) (more bool)) (next int64, all bool, err error) {
	next = b.base
	for {
		line, offset, err := b.Prev()
		var long *LongLine
		switch {
		case errors.Is(err, io.EOF) || err == nil && offset < from:
			return next, true, nil
		case err != nil && !errors.As(err, &long):
			return 0, false, err
		case b.Partial():
			next = offset
		}
		if b.Partial() && long == nil {
			continue
		}
		if !do(line, offset, long) {
			return next, false, nil
		}
	}
}

// dropNewline removes the newline that ends the line to be returned.
func (b *BackwardReader) dropNewline() (bool, error) {
	if b.hi == b.lo {
		if err := b.fill(); err != nil {
			return false, err
		}
	}
	if b.buf[b.hi-1] != '\n' {
		return false, nil
	}
	b.hi--
	return true, nil
}

// lastLine removes the line that ends at hi from the buffer.
func (b *BackwardReader) lastLine() ([]byte, int64, error) {
	for searched := 0; ; {
		if i := lastNewline(b.buf[b.lo : b.hi-searched]); i >= 0 || b.base == 0 {
			start := b.lo + i + 1
			line, offset := b.buf[start:b.hi], b.base+int64(i+1)
			b.hi = start
			if len(line) > b.maxLine {
				return b.tooLong(offset, int64(len(line)))
			}
			return line, offset, nil
		}
		searched = b.hi - b.lo
		if searched >= lastBackward {
			return b.longLine()
		}
		if err := b.fill(); err != nil {
			return nil, 0, err
		}
	}
}

// lastNewline returns the index of the last newline; -1: there is none. Only IndexByte compares many bytes at once.
func lastNewline(b []byte) int {
	const part = 1 << 10
	for ; len(b) > part && bytes.IndexByte(b[len(b)-part:], '\n') < 0; b = b[:len(b)-part] {
		continue
	}
	return bytes.LastIndexByte(b, '\n')
}

// longLine removes a line that is longer than the buffer should be: it first searches
// for the beginning of the line, and then reads the line at once.
func (b *BackwardReader) longLine() ([]byte, int64, error) {
	end := b.base + int64(b.hi-b.lo)
	start := int64(0)
	for b.hi = b.lo; b.base > 0; b.hi = b.lo {
		if length := end - b.base; length > int64(b.maxLine) && length >= searchLimit {
			return b.endless(length)
		}
		if err := b.fill(); err != nil {
			return nil, 0, err
		}
		if i := lastNewline(b.buf[b.lo:b.hi]); i >= 0 {
			b.hi = b.lo + i + 1
			start = b.base + int64(i+1)
			break
		}
	}
	if end-start > int64(b.maxLine) {
		return b.tooLong(start, end-start)
	}
	line := make([]byte, end-start)
	return line, start, readFull(b.r, line, start)
}

// endless returns what is known of a line whose beginning was not found, and ends
// the reading.
func (b *BackwardReader) endless(length int64) ([]byte, int64, error) {
	offset := b.base
	b.base = 0
	tail := make([]byte, EndLen)
	if err := readFull(b.r, tail, offset+length-EndLen); err != nil {
		return nil, 0, err
	}
	return nil, offset, &LongLine{Offset: offset, Length: length, Tail: tail, Endless: true}
}

func (b *BackwardReader) tooLong(offset, length int64) ([]byte, int64, error) {
	long, err := longLine(b.r, offset, length)
	if err != nil {
		return nil, 0, err
	}
	return nil, offset, long
}

// fill reads the chunk before the buffered bytes.
func (b *BackwardReader) fill() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	n := int(min(int64(b.chunk), b.base))
	b.chunk = min(b.chunk*2, lastBackward)
	b.room(n)
	if err := readFull(b.r, b.buf[b.lo-n:b.lo], b.base-int64(n)); err != nil {
		return err
	}
	b.lo -= n
	b.base -= int64(n)
	return nil
}

// room makes room for n bytes in front of lo. It keeps the buffered bytes at the end of
// the buffer.
func (b *BackwardReader) room(n int) {
	if b.lo >= n {
		return
	}
	if b.buf == nil {
		if free, _ := backwardBuffers.Get().(*[]byte); free != nil {
			b.buf = *free
			b.lo = len(*free)
			b.hi = len(*free)
			b.room(n)
			return
		}
	}
	have := b.hi - b.lo
	to := b.buf
	if need := have + n; need > len(b.buf) {
		to = make([]byte, max(need, 2*len(b.buf), firstChunk))
	}
	copy(to[len(to)-have:], b.buf[b.lo:b.hi])
	b.buf = to
	b.lo = len(to) - have
	b.hi = len(to)
}

func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
