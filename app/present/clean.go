package present

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func decode(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return utf8.RuneError, 1
	}
	return r, n
}

// escapeLen is the length of the terminal escape sequence that s starts with,
// 0 if it starts with none. Dropping only the ESC byte would leave "[31m".
func escapeLen(s string) int {
	switch {
	case s[0] == 0x1b && len(s) > 1:
		switch s[1] {
		case '[':
			return 2 + csiLen(s[2:])
		case ']', 'P', 'X', '^', '_':
			return 2 + stringLen(s[2:])
		}
		return 1
	case strings.HasPrefix(s, "\u009b"):
		return 2 + csiLen(s[2:])
	case strings.HasPrefix(s, "\u009d"), strings.HasPrefix(s, "\u0090"):
		return 2 + stringLen(s[2:])
	}
	return 0
}

func csiLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return len(s)
}

// stringLen runs to BEL or ST. An unterminated one ends with its line, so that
// a single stray byte can't swallow a whole text.
func stringLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		case s[i] == '\n':
			return i
		}
	}
	return len(s)
}

// visible leaves out what reorders a line or can't be seen; the joiner (ZWJ)
// and variation selectors stay, since emoji are made with them.
func visible(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return true
	case r == '\u200d', r >= '\ufe00' && r <= '\ufe0f':
		return true
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
		return false
	}
	return true
}
