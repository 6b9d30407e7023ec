// Package jsonl reads JSON-lines files of any size with bounded memory, from
// either end, and picks single members out of a line without decoding it.
package jsonl

import (
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read whole when a caller passes 0. Agents
// write single lines of tens of megabytes (tool results with images); longer
// ones are passed over, and a caller learns where.
const MaxLine = 64 << 20

// EndLen is how much a LongLine shows of a line's beginning and of its end.
const EndLen = 4 << 10

// ErrTooLong is what a LongLine unwraps to.
var ErrTooLong = errors.New("line too long")

// LongLine reports a line over the cap. Reading goes on at the next call. What
// the line says can't be known; Head and Tail are its first and last EndLen
// bytes, so that a caller can still recognise what kind of record it was.
type LongLine struct {
	Offset int64 // of the line's first byte
	Length int64 // without the newline
	Head   []byte
	Tail   []byte
}

func (l *LongLine) Error() string {
	return fmt.Sprintf("line of %d bytes at offset %d: %v", l.Length, l.Offset, ErrTooLong)
}

// Unwrap returns ErrTooLong.
func (l *LongLine) Unwrap() error { return ErrTooLong }

// longLine reads the ends of a line over the cap.
func longLine(r io.ReaderAt, offset, length int64) (*LongLine, error) {
	n := min(EndLen, length)
	l := &LongLine{Offset: offset, Length: length, Head: make([]byte, n), Tail: make([]byte, n)}
	if err := readFull(r, l.Head, offset); err != nil {
		return nil, err
	}
	return l, readFull(r, l.Tail, offset+length-n)
}

func lineCap(maxLine int) int {
	if maxLine <= 0 {
		return MaxLine
	}
	return maxLine
}
