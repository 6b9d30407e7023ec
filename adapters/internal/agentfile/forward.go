package agentfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
)

const forwardChunk = 256 << 10

// buffers holds buffers for reuse: a listing of thousands of files then needs few
// allocations.
var buffers = sync.Pool{New: func() any { return new([forwardChunk]byte) }}

// Stats holds the counts of one call of Forward.
type Stats struct {
	Lines   int   // passed to fn
	Long    int   // lines that were skipped because of their length
	Partial int64 // bytes after the last newline, not handed to fn
}

// Forward calls fn for each complete line from offset from on, which must be
// the beginning of a line. Empty lines are left out; line is without its
// newline and valid only during fn. A last line without newline is not handed
// out: it may still be being written.
//
// next is the offset after the last line that fn took, from which a caller can
// continue, also after an error: fn's own, ctx's, or that of a read. Lines over maxLine
// bytes (0: MaxLine) are counted in Stats.Long. Memory is a few chunks, or the longest
// line. A line of which the first 128 MB have no newline ends the reading: the error is
// a *LongLine that says so.
func Forward(ctx context.Context, r io.ReaderAt, from int64, maxLine int,
	fn func(line []byte, offset int64) error) (next int64, stats Stats, err error) {
	return ForwardLong(ctx, r, from, maxLine, fn, nil)
}

// ForwardLong does the same as Forward, and calls long in the place of each line over
// the cap. An error of long stops the reading as one of fn does.
func ForwardLong(ctx context.Context, r io.ReaderAt, from int64, maxLine int,
	fn func(line []byte, offset int64) error, long func(*LongLine) error) (next int64, stats Stats, err error) {
	pooled := buffers.Get().(*[forwardChunk]byte)
	defer buffers.Put(pooled)
	f := forward{ctx: ctx, r: r, maxLine: cmp.Or(maxLine, MaxLine), fn: fn, long: long, next: from, buf: pooled[:], fill: 2 * firstChunk}
	for err == nil {
		err = f.chunk()
	}
	if errors.Is(err, errEnd) {
		err = nil
	}
	return f.next, f.stats, err
}

type forward struct {
	ctx     context.Context
	r       io.ReaderAt
	maxLine int
	fn      func([]byte, int64) error
	long    func(*LongLine) error
	buf     []byte
	fill    int   // the part of buf that is used: small at first, since often the first lines are enough
	have    int   // bytes in buf, all of one unfinished line
	next    int64 // offset of that line
	stats   Stats
}

// errEnd reports the end of the file. It differs from io.EOF, which fn may return.
var errEnd = errors.New("end of file")

// chunk reads the next chunk and passes its complete lines on. It returns errEnd at the
// end of the file.
func (f *forward) chunk() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if f.have == f.fill {
		if f.fill >= lastChunk {
			return f.longLine()
		}
		f.grow()
	}
	n, err := f.r.ReadAt(f.buf[f.have:f.fill], f.next+int64(f.have))
	f.have += n
	if cause := f.take(f.have - n); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) {
		f.stats.Partial = int64(f.have)
		return errEnd
	}
	if f.fill < len(f.buf) {
		f.grow()
	}
	return err
}

func (f *forward) grow() {
	f.fill *= 2
	if f.fill > len(f.buf) {
		to := make([]byte, f.fill)
		copy(to, f.buf[:f.have])
		f.buf = to
	}
}

// take passes the complete lines in buf to the caller. The bytes before searched hold
// no newline.
func (f *forward) take(searched int) error {
	start := 0
	defer func() { f.have = copy(f.buf, f.buf[start:f.have]) }()
	for {
		i := bytes.IndexByte(f.buf[searched:f.have], '\n')
		if i < 0 {
			return nil
		}
		end := searched + i
		if err := f.line(f.buf[start:end]); err != nil {
			return err
		}
		start, searched = end+1, end+1
	}
}

func (f *forward) line(line []byte) error {
	switch {
	case len(line) > f.maxLine:
		if err := f.tooLong(int64(len(line))); err != nil {
			return err
		}
	case len(line) > 0:
		if err := f.fn(line, f.next); err != nil {
			return err
		}
		f.stats.Lines++
	}
	f.next += int64(len(line)) + 1
	return nil
}

// longLine reads a line that is longer than the buffer should be: it first searches for
// the end of the line, and then reads the line at once.
func (f *forward) longLine() error {
	end := f.next + int64(f.have)
	for {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if length := end - f.next; length > int64(f.maxLine) && length >= searchLimit {
			return f.endless(length)
		}
		n, err := f.r.ReadAt(f.buf, end)
		if i := bytes.IndexByte(f.buf[:n], '\n'); i >= 0 {
			end += int64(i)
			break
		}
		end += int64(n)
		if errors.Is(err, io.EOF) {
			f.stats.Partial = end - f.next
			return errEnd
		}
		if err != nil {
			return err
		}
	}
	f.have = 0
	length := end - f.next
	if length > int64(f.maxLine) {
		if err := f.tooLong(length); err != nil {
			return err
		}
		f.next = end + 1
		return nil
	}
	line := make([]byte, length)
	if err := readFull(f.r, line, f.next); err != nil {
		return err
	}
	return f.line(line)
}

// endless returns what is known of a line whose end was not found.
func (f *forward) endless(length int64) error {
	f.stats.Long++
	head := make([]byte, EndLen)
	if err := readFull(f.r, head, f.next); err != nil {
		return err
	}
	return &LongLine{Offset: f.next, Length: length, Head: head, Endless: true}
}

func (f *forward) tooLong(length int64) error {
	if f.long != nil {
		long, err := longLine(f.r, f.next, length)
		if err != nil {
			return err
		}
		if err := f.long(long); err != nil {
			return err
		}
	}
	f.stats.Long++
	return nil
}
