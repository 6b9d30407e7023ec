package openclaw

import (
	"encoding/json"
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
		return s.quoted(c)
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
func (s *scanner) quoted(quote byte) error {
	var b strings.Builder
	for s.pos++; s.pos < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		s.pos += n
		switch {
		case r == rune(quote):
			text, _ := json.Marshal(b.String())
			s.emit(string(text))
			return nil
		case r == '\n':
			return fmt.Errorf("a text in quotes is not closed")
		case r == '\\':
			if err := s.escape(&b); err != nil {
				return err
			}
		default:
			b.WriteRune(r)
		}
	}
	return fmt.Errorf("a text in quotes is not closed")
}

func (s *scanner) escape(b *strings.Builder) error {
	if s.pos >= len(s.text) {
		return fmt.Errorf("a text in quotes is not closed")
	}
	c := s.text[s.pos]
	s.pos++
	digits := map[byte]int{'u': 4, 'x': 2}[c]
	if digits > 0 {
		if s.pos+digits > len(s.text) {
			return fmt.Errorf("an escape sequence is incomplete")
		}
		n, err := strconv.ParseUint(s.text[s.pos:s.pos+digits], 16, 32)
		if err != nil {
			return fmt.Errorf("an escape sequence has a wrong digit")
		}
		s.pos += digits
		b.WriteRune(rune(n))
		return nil
	}
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case '\r':
		if s.pos < len(s.text) && s.text[s.pos] == '\n' {
			s.pos++
		}
	case '\n': // an escaped line break
	default:
		b.WriteByte(c)
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
