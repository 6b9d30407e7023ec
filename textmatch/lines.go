package textmatch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

const (
	blockSize = 512 << 10
	// MaxLine is the longest line that Lines hands out.
	MaxLine = 8 << 20
)

var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}

// Lines reads r in large blocks and calls fn for each line that can contain the pattern in one of its JSON strings,
// and for each line with one of marks. fn decides whether the line contains the pattern. Lines are without their
// newlines and valid only during fn; the last line needs no newline. Empty lines are left out.
//
// Lines over MaxLine are not held in memory: long counts those that can contain the pattern. Errors are those of fn, of
// ctx or of a read.
func (p *Pattern) Lines(ctx context.Context, r io.Reader, marks [][]byte, fn func(line []byte, offset int64) error) (long int, err error) {
	pooled := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(pooled)
	l := lines{pattern: p, marks: marks, fn: fn, buf: pooled[:]}
	for {
		if err := ctx.Err(); err != nil {
			return l.long, err
		}
		if l.have == len(l.buf) {
			l.grow()
		}
		n, err := r.Read(l.buf[l.have:])
		l.have += n
		if err := l.complete(n); err != nil {
			return l.long, err
		}
		if errors.Is(err, io.EOF) {
			return l.long, l.end()
		}
		if err != nil {
			return l.long, err
		}
	}
}

// MayContain reports whether one JSON document can contain the pattern in one of its
// strings.
func (p *Pattern) MayContain(document []byte) bool {
	if len(p.literal.positions) == 0 {
		return true
	}
	var f finder
	f.reset(&p.literal, document, nil)
	return f.next(0) >= 0
}

// lines is the state of Lines.
type lines struct {
	pattern *Pattern
	marks   [][]byte
	fn      func([]byte, int64) error
	buf     []byte
	have    int   // bytes in buf: an unfinished line
	offset  int64 // of buf[0]
	long    int

	isLong bool // buf has the rest of a line over MaxLine
	may    bool // which can contain the pattern, from what was read before
	finder finder
}

// grow makes room in a full buffer. If the line is over MaxLine, it keeps only the last bytes,
// so that an occurrence that continues in the next bytes is found.
func (l *lines) grow() {
	if !l.isLong && len(l.buf) < MaxLine {
		l.buf = append(make([]byte, 0, 2*len(l.buf)), l.buf...)
		l.buf = l.buf[:cap(l.buf)]
		return
	}
	l.isLong = true
	l.may = l.may || l.pattern.MayContain(l.buf[:l.have])
	const overlap = maxLiteral + 8
	l.offset += int64(l.have - overlap)
	l.have = copy(l.buf, l.buf[l.have-overlap:l.have])
}

// complete removes the complete lines from the buffer and handles them. The last n of the buffered bytes are new.
func (l *lines) complete(n int) error {
	last := bytes.LastIndexByte(l.buf[l.have-n:l.have], '\n')
	if last < 0 {
		return nil
	}
	end := l.have - n + last + 1
	start := 0
	if l.isLong {
		start = l.have - n + bytes.IndexByte(l.buf[l.have-n:l.have], '\n') + 1
		l.endLong(l.buf[:start])
	}
	if err := l.block(l.buf[start:end], l.offset+int64(start)); err != nil {
		return err
	}
	l.offset += int64(end)
	l.have = copy(l.buf, l.buf[end:l.have])
	return nil
}

func (l *lines) endLong(rest []byte) {
	if l.may || l.pattern.MayContain(rest) {
		l.long++
	}
	l.isLong, l.may = false, false
}

// end takes the last line, if it has no newline.
func (l *lines) end() error {
	if l.isLong {
		l.endLong(l.buf[:l.have])
		return nil
	}
	return l.block(l.buf[:l.have], l.offset)
}

// block hands out the lines of a block that can contain the pattern.
func (l *lines) block(block []byte, offset int64) error {
	every := len(l.pattern.literal.positions) == 0
	if !every {
		l.finder.reset(&l.pattern.literal, block, l.marks)
	}
	for from := 0; from < len(block); {
		start := from
		if !every {
			at := l.finder.next(from)
			if at < 0 {
				return nil
			}
			start = from + bytes.LastIndexByte(block[from:at], '\n') + 1
			from = at
		}
		end := len(block)
		if i := bytes.IndexByte(block[from:], '\n'); i >= 0 {
			end = from + i
		}
		if end > start {
			if err := l.fn(block[start:end], offset+int64(start)); err != nil {
				return err
			}
		}
		from = end + 1
	}
	return nil
}
