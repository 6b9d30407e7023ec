package agentfile

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrSyntax is returned for a line that is not a complete JSON object (or array).
var ErrSyntax = errors.New("not valid JSON")

// Top calls fn for each member of the JSON object in line, in order, without
// allocating. key is the member's name without its quotes (escapes in it are
// resolved); raw is its value as written, for the helpers of this package. Both
// are parts of line. fn returns false to stop.
//
// Nested values are skipped by matching quotes and brackets: valid JSON is walked as
// encoding/json reads it, and an object that is cut off gives ErrSyntax, but not every
// kind of malformed value inside is noticed. When fn stops early, the rest is not
// checked.
func Top(line []byte, fn func(key, raw []byte) bool) error { return walk(line, '{', '}', fn) }

// Each calls fn for each element of the JSON array in raw, in order, as Top does
// for members. fn returns false to stop.
func Each(raw []byte, fn func(element []byte) bool) error {
	return walk(raw, '[', ']', func(_, element []byte) bool { return fn(element) })
}

// walk calls fn for each member of the object, or each element of the array, between the
// brackets open and end.
func walk(b []byte, open, end byte, fn func(key, raw []byte) bool) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != open {
		return syntax(i)
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == end {
		return atEnd(b, i+1)
	}
	for {
		var key []byte
		if open == '{' {
			after := value(b, i)
			if after < 0 || b[i] != '"' {
				return syntax(i)
			}
			key = Text(b[i:after])
			i = space(b, after)
			if i >= len(b) || b[i] != ':' {
				return syntax(i)
			}
			i = space(b, i+1)
		}
		after := value(b, i)
		if after < 0 {
			return syntax(i)
		}
		if !fn(key, b[i:after]) {
			return nil
		}
		switch i = space(b, after); {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == end:
			return atEnd(b, i+1)
		default:
			return syntax(i)
		}
	}
}

// Get returns the value at a path of member names, the first of each name; nil
// when there is none, or when a value on the way is no object.
func Get(line []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		err := Top(line, func(key, v []byte) bool {
			if string(key) == name {
				found = v
			}
			return found == nil
		})
		if err != nil || found == nil {
			return nil
		}
		line = found
	}
	return line
}

// syntax is ErrSyntax, with the index of the byte. Its text is made only when it is shown: what is no object is common.
type syntax int

func (at syntax) Error() string  { return fmt.Sprintf("%v at byte %d", ErrSyntax, int(at)) }
func (syntax) Is(err error) bool { return err == ErrSyntax }

func atEnd(b []byte, i int) error {
	i = space(b, i)
	if i != len(b) {
		return syntax(i)
	}
	return nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// value returns the index after the value that begins at i, or -1.
func value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		return nested(b, i)
	default:
		return scalar(b, i)
	}
}

// quoted returns the index after the string that begins at i, or -1.
func quoted(b []byte, i int) int {
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		back := quote
		for back > from && b[back-1] == '\\' {
			back--
		}
		if (quote-back)%2 == 0 {
			return quote + 1
		}
		from = quote + 1
	}
}

// structural marks the bytes at which nested has to stop.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// nested returns the index after the object or array that begins at i, or -1. It counts
// brackets instead of recursing, so that deep nesting needs no memory.
func nested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		if !structural[b[i]] {
			i++
			continue
		}
		switch b[i] {
		case '"':
			i = quoted(b, i)
			if i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		default:
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
	return -1
}

// scalar returns the index after the number or literal that begins at i, or -1.
func scalar(b []byte, i int) int {
	start := i
	for i < len(b) {
		switch c := b[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			i++
			continue
		}
		break
	}
	switch word := b[start:i]; {
	case string(word) == "true", string(word) == "false", string(word) == "null":
		return i
	case len(word) > 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		return i
	}
	return -1
}
