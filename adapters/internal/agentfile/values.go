package agentfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the value of the JSON string raw, without allocating unless it contains
// escapes; nil when raw is no string. Invalid UTF-8 stays as it is: String repairs it.
func Text(raw []byte) []byte {
	inner, ok := unquoted(raw)
	if !ok {
		return nil
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unescape(make([]byte, 0, len(inner)), inner)
}

// String returns the value of the JSON string raw, as valid UTF-8 like encoding/json;
// "" when raw is no string.
func String(raw []byte) string {
	inner, ok := unquoted(raw)
	if !ok {
		return ""
	}
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	return valid(unescape(make([]byte, 0, len(inner)), inner))
}

// Head does the same as String for texts that can be huge: it stops after at most limit
// bytes of the decoded text, at a rune's end. cut reports whether it did.
func Head(raw []byte, limit int) (text string, cut bool) {
	inner, ok := unquoted(raw)
	if !ok {
		return "", false
	}
	if longest := 6 * (limit + utf8.UTFMax); len(inner) > longest { // \u0041 is one byte
		inner, cut = inner[:longest], true
	}
	decoded := inner
	if bytes.IndexByte(inner, '\\') >= 0 {
		buf, _ := headBuffers.Get().(*[]byte)
		defer headBuffers.Put(buf)
		*buf = unescape((*buf)[:0], inner)
		decoded = *buf
	}
	if !utf8.Valid(decoded) {
		decoded = []byte(valid(decoded))
	}
	if len(decoded) <= limit {
		return string(decoded), cut
	}
	for limit > 0 && !utf8.RuneStart(decoded[limit]) {
		limit--
	}
	return string(decoded[:limit]), true
}

// headBuffers are those in which Head decodes: a list of sessions needs the beginning of a text in most lines.
var headBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Int returns the number raw. It returns false if raw is not a number, or not an integer that
// fits into an int64.
func Int(raw []byte) (int64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil { // also beyond what a float64 holds exactly
		return n, true
	}
	f, ok := Float(raw)
	if !ok || f != math.Trunc(f) || f >= 1<<63 || f < -1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Float returns the number raw. It returns false if raw is not a number.
func Float(raw []byte) (float64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// isNumber reports whether a JSON value is a number, by its first byte.
func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// True reports whether raw is the literal true.
func True(raw []byte) bool { return string(raw) == "true" }

// Null reports whether raw is absent or the literal null.
func Null(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// Time returns the RFC 3339 string raw; the zero time when raw is not one.
func Time(raw []byte) time.Time {
	inner, ok := unquoted(raw)
	if !ok || len(inner) > 40 {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(inner))
	if err != nil {
		return time.Time{}
	}
	return t
}

func unquoted(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// unescape appends s to to, with its escapes resolved. An escape that is invalid or cut
// off is left out.
func unescape(to, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			if i >= 0 {
				s = s[:i]
			}
			return append(to, s...)
		}
		to = append(to, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
			to = append(to, "\"\\/\b\f\n\r\t"[at])
		}
		if c != 'u' {
			continue
		}
		r, ok := unit(s)
		if !ok {
			continue
		}
		s = s[4:]
		if utf16.IsSurrogate(r) {
			var n int
			r, n = pair(r, s)
			s = s[n:]
		}
		to = utf8.AppendRune(to, r)
	}
}

// unit reads the four hex digits of a \u escape.
func unit(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	var b [2]byte
	_, err := hex.Decode(b[:], s[:4])
	return rune(binary.BigEndian.Uint16(b[:])), err == nil
}

// pair joins the surrogate first with the surrogate that follows in s. If none follows, it
// returns U+FFFD and uses nothing of s.
func pair(first rune, s []byte) (rune, int) {
	if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
		if second, ok := unit(s[2:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 6
			}
		}
	}
	return utf8.RuneError, 0
}

// valid replaces each byte that is not part of valid UTF-8 with U+FFFD, as encoding/json does.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
