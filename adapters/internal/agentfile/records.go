package agentfile

import "bytes"

// byteOrderMark is what some editors write at the beginning of a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

// WithoutMark returns data without the byte order mark at its beginning.
func WithoutMark(data []byte) []byte { return bytes.TrimPrefix(data, byteOrderMark) }

// Records calls do with each record on a line, usually one, and returns their number. A process that was killed leaves a record without a line feed, or a
// part of one, and the next record continues on that line. The error is that of parse for a line of which a part is no record. parse must return an error
// for what is not one JSON object.
func Records[R any](line []byte, parse func([]byte) (R, error), do func(*R)) (n int, err error) {
	line = WithoutMark(line)
	r, err := parse(line)
	if err == nil {
		do(&r)
		return 1, nil
	}
	parts, torn := objects(line)
	for _, part := range parts {
		r, bad := parse(part)
		torn = torn || bad != nil
		if bad == nil {
			do(&r)
			n++
		}
	}
	if n > 0 && !torn {
		err = nil
	}
	return n, err
}

// RecordsOf is Records for an agent some of whose records have one member only: after a part of a record, the longest end of the line is a record that
// parse accepts and is reports to be one.
func RecordsOf[R any](line []byte, parse func([]byte) (R, error), is func(*R) bool, do func(*R)) (n int, err error) {
	var last []byte
	n, err = Records(line, func(part []byte) (R, error) {
		r, err := parse(part)
		if err == nil {
			last = part
		}
		return r, err
	}, do)
	if err == nil || n > 0 && bytes.HasSuffix(line, last) {
		return n, err
	}
	line = bytes.TrimRight(line, " \t\r\n")
	for budget := searched; len(line) > 0 && budget > 0; budget -= len(line) {
		at := bytes.Index(line[1:], []byte(`{"`))
		if at < 0 {
			break
		}
		line = line[1+at:]
		if r, bad := parse(line); bad == nil && is(&r) {
			do(&r)
			return n + 1, err
		}
	}
	return n, err
}

// HasRecord reports whether a record is on a line; see Records.
func HasRecord(line []byte) bool {
	n, _ := Records(line, func(part []byte) (_ struct{}, err error) {
		return struct{}{}, Top(part, func(_, _ []byte) bool { return true })
	}, func(*struct{}) {})
	return n > 0
}

// searched bounds the bytes that objects reads to find where a record begins after a part of another one.
const searched = 1 << 20

// objects returns the objects with which a line begins and, after a part of an object, the one with which it ends. That one has the names of the part's first
// two members, as it may be a value in the part otherwise. torn reports whether there is such a part.
func objects(line []byte) (parts [][]byte, torn bool) {
	for {
		line = bytes.TrimLeft(line, " \t\r")
		part := First(line)
		if len(part) == 0 || !isObject(part) {
			break
		}
		parts, line = append(parts, part), line[len(part):]
	}
	first, second := firstNames(line)
	for budget := searched; len(line) > 0 && budget > 0; budget -= len(line) {
		torn = true
		at := bytes.Index(line[1:], []byte(`{"`))
		if at < 0 {
			break
		}
		line = bytes.TrimRight(line[1+at:], " \t\r")
		a, b := firstNames(line)
		if len(second) > 0 && bytes.Equal(a, first) && bytes.Equal(b, second) && isObject(line) {
			return append(parts, line), true
		}
	}
	return parts, torn
}

func isObject(b []byte) bool { return Top(b, func(_, _ []byte) bool { return true }) == nil }

// firstNames returns the names of the first two members of an object that may be cut off, as written.
func firstNames(b []byte) (first, second []byte) {
	next := func(from int) (name []byte, at int) {
		from = space(b, from+1)
		end := value(b, from)
		if end < 0 || b[from] != '"' {
			return nil, -1
		}
		return b[from:end], space(b, space(b, end)+1)
	}
	first, at := next(0)
	if at < 0 {
		return nil, nil
	}
	at = value(b, at)
	if at < 0 {
		return first, nil
	}
	second, _ = next(space(b, at))
	return first, second
}
