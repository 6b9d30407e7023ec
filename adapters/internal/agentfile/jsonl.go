package agentfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// MaxLine is the longest line that is read whole when a caller passes 0. Agents write
// single lines of tens of megabytes (tool results with images); longer lines are
// skipped, and reported to the caller with their position.
const MaxLine = 64 << 20

// searchLimit is the number of bytes of an overlong line that are read to find its end.
// Without a limit, a damaged file of many gigabytes would use up all the time for an answer.
const searchLimit = 2 * MaxLine

// EndLen is the number of bytes that a LongLine keeps of a line's beginning and of its end.
const EndLen = 4 << 10

// ErrTooLong is the error that a LongLine wraps.
var ErrTooLong = errors.New("line too long")

// LongLine reports a line over the length limit. Reading continues at the next call.
// The content of the line is not known; Head and Tail are its first and last EndLen
// bytes, so that a caller can still recognise what kind of record it was.
type LongLine struct {
	Offset int64 // offset of the line's first byte
	Length int64 // without the newline
	Head   []byte
	Tail   []byte
	// Endless reports that the line's other end was not found in the searchLimit bytes that
	// were read, and that reading has ended. Offset and Length are those of the part that was
	// read. Only Head or Tail is set, whichever is in that part.
	Endless bool
}

// Words returns the line's length as people write it; most is the longest that an
// endless line can be, because the file ends there.
func (l *LongLine) Words(most int64) string {
	if !l.Endless {
		return "a line of " + size(l.Length)
	}
	return fmt.Sprintf("a line of %s or less: the %s that were read do not contain its other end", size(most), size(searchLimit))
}

func size(bytes int64) string {
	if bytes >= 1<<30 {
		return strconv.FormatFloat(math.Round(float64(bytes)/(1<<30)*10)/10, 'f', -1, 64) + " GB"
	}
	return fmt.Sprintf("%d MB", max(1, (bytes+1<<19)>>20))
}

func (l *LongLine) Error() string {
	return fmt.Sprintf("line of %d bytes at offset %d: %v", l.Length, l.Offset, ErrTooLong)
}

// Unwrap returns ErrTooLong.
func (l *LongLine) Unwrap() error { return ErrTooLong }

// Read returns the line from the file in which it was found, unless it is longer than MaxLine.
func (l *LongLine) Read(r io.ReaderAt) ([]byte, error) {
	if l.Endless || l.Length > MaxLine {
		return nil, l
	}
	line := make([]byte, l.Length)
	return line, readFull(r, line, l.Offset)
}

// longLine reads the ends of a line over the cap.
func longLine(r io.ReaderAt, offset, length int64) (*LongLine, error) {
	n := min(EndLen, length)
	l := &LongLine{Offset: offset, Length: length, Head: make([]byte, n), Tail: make([]byte, n)}
	if err := readFull(r, l.Head, offset); err != nil {
		return nil, err
	}
	return l, readFull(r, l.Tail, offset+length-n)
}
