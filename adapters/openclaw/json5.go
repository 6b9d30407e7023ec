package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unmarshalJSON5 parses settings in the form that OpenClaw accepts (2026.9.6): JSON, or
// JSON5 with comments, trailing commas, unquoted names and single quotes.
func unmarshalJSON5(b []byte, v any) error {
	strict := json.Unmarshal(b, v)
	if strict == nil {
		return nil
	}
	plain, err := toJSON(string(b))
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

// toJSON rewrites JSON5 as JSON. It copies what it can't rewrite unchanged, and the
// JSON parser then reports the error.
func toJSON(text string) ([]byte, error) {
	s := scanner{text: strings.TrimPrefix(text, "\ufeff")}
	for s.pos < len(s.text) {
		if err := s.step(); err != nil {
			return nil, fmt.Errorf("line %d: %w", 1+strings.Count(s.text[:min(s.pos, len(s.text))], "\n"), err)
		}
	}
	return []byte(s.out.String()), nil
}

type scanner struct {
	text  string
	pos   int
	out   strings.Builder
	comma bool // a comma was read, and is written only if a value follows
}

func (s *scanner) step() error {
	switch c := s.text[s.pos]; {
	case strings.HasPrefix(s.text[s.pos:], "//"):
		s.skipTo("\n", 2)
	case strings.HasPrefix(s.text[s.pos:], "/*"):
		if !s.skipTo("*/", 2) {
			return fmt.Errorf("a comment is not closed")
		}
		s.pos += 2
	case c == ',':
		s.emit(",") // writes the first of two commas: the parser reports the error
		s.comma = true
		s.pos++
	case c == '}' || c == ']':
		s.comma = false
		s.out.WriteByte(c)
		s.pos++
	case c == '"' || c == '\'':
		return s.quoted(rune(c))
	case isSpace(c):
		s.pos++
		s.out.WriteByte(' ')
	case c == '{' || c == '[' || c == ':':
		s.emit(string(c))
		s.pos++
	default:
		s.bare()
	}
	return nil
}

// emit writes the pending comma, if any, and then the text, unless the text is itself a
// comma.
func (s *scanner) emit(text string) {
	if s.comma {
		s.comma = false
		s.out.WriteByte(',')
	}
	if text != "," {
		s.out.WriteString(text)
	}
}

func (s *scanner) skipTo(end string, from int) bool {
	i := strings.Index(s.text[s.pos+from:], end)
	if i < 0 {
		s.pos = len(s.text)
		return false
	}
	s.pos += from + i
	return true
}

func isSpace(c byte) bool { return c <= ' ' }

// quoted rewrites a string in either kind of quotes.
func (s *scanner) quoted(quote rune) error {
	var b strings.Builder
	for s.pos++; ; {
		switch r := s.next(); r {
		case quote:
			s.emit(`"` + b.String() + `"`)
			return nil
		case '\\':
			if err := s.escape(&b); err != nil {
				return err
			}
		case '\n', '\r', endOfText:
			return errNotClosed
		default:
			writeRune(&b, r)
		}
	}
}

const endOfText = -1

var errNotClosed = errors.New("a text in quotes is not closed")

// next returns the next character, and endOfText after the last one.
func (s *scanner) next() rune {
	if s.pos >= len(s.text) {
		return endOfText
	}
	r, n := utf8.DecodeRuneInString(s.text[s.pos:])
	s.pos += n
	return r
}

// writeRune writes a character as it must be in a text of JSON.
func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '"' || r == '\\':
		b.WriteByte('\\')
	case r < ' ':
		fmt.Fprintf(b, `\u%04x`, r)
		return
	}
	b.WriteRune(r)
}

// escape rewrites an escape sequence. Those of four digits stay as they are: two of them can be one character.
func (s *scanner) escape(b *strings.Builder) error {
	r := s.next()
	switch r {
	case 'u', 'x':
		digits := map[rune]int{'u': 4, 'x': 2}[r]
		if s.pos+digits > len(s.text) {
			return errors.New("an escape sequence is incomplete")
		}
		n, err := strconv.ParseUint(s.text[s.pos:s.pos+digits], 16, 16)
		if err != nil {
			return errors.New("an escape sequence has a wrong digit")
		}
		s.pos += digits
		fmt.Fprintf(b, `\u%04x`, n)
	case 'b', 'f', 'n', 'r', 't':
		b.WriteString(`\` + string(r))
	case 'v':
		writeRune(b, '\v')
	case '\r': // this and the next ones are line breaks, which continue the text
		if strings.HasPrefix(s.text[s.pos:], "\n") {
			s.pos++
		}
	case '\n', '\u2028', '\u2029':
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if r != '0' || s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
			return errors.New("an escape sequence is a number")
		}
		writeRune(b, 0)
	case endOfText:
		return errNotClosed
	default:
		writeRune(b, r)
	}
	return nil
}

// bare rewrites a name without quotes, a number or a literal.
func (s *scanner) bare() {
	start := s.pos
	for s.pos < len(s.text) && !strings.ContainsRune(",:{}[]\"'/", rune(s.text[s.pos])) && !isSpace(s.text[s.pos]) {
		s.pos++
	}
	if s.pos == start { // a stray slash
		s.pos++
	}
	word := s.text[start:s.pos]
	switch {
	case word == "true" || word == "false" || word == "null" || json.Valid([]byte(word)):
	case strings.HasPrefix(word, "+") || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "0x") || strings.HasSuffix(word, "."):
		if n, err := strconv.ParseFloat(word, 64); err == nil {
			word = strconv.FormatFloat(n, 'g', -1, 64)
		} else if n, err := strconv.ParseInt(word, 0, 64); err == nil {
			word = strconv.FormatInt(n, 10)
		}
	default:
		quoted, _ := json.Marshal(word)
		word = string(quoted)
	}
	s.emit(word)
}
