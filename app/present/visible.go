package present

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns untrusted text whole, so that nothing in it is hidden from a reader who decides on it: a line break is
// shown as "⏎" and begins a new line, and a character that could not be seen, or that would move, reorder or recolour
// others, is shown by its number, such as "<U+202E>" or, for a byte that is no text, "<0xFF>".
func Visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			b.WriteString("⏎\n")
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case Invisible(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// blank are characters that have a width and no ink, besides those that Unicode calls spaces.
const blank = "\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5"

// Invisible reports whether r can't be told from nothing, or from a plain space, by a reader. Hidden does not count the
// joiner and the variation selectors of emoji; Invisible does.
func Invisible(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r < utf8.RuneSelf:
		return r < 0x20 || r == 0x7f
	case Hidden(r), unicode.IsSpace(r), unicode.Is(unicode.Variation_Selector, r), r == '\u200d':
		return true
	}
	return strings.ContainsRune(blank, r)
}
