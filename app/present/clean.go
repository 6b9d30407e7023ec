package present

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"

	"rollcall/adapters"
)

// Line returns untrusted text as one safe line: without control characters, escape sequences and characters that are
// invisible or reorder the line, and with white space folded.
func Line(s string) string {
	return strings.Join(strings.Fields(clean(s, false)), " ")
}

// Text returns untrusted text as safe lines, like Line, but keeps line breaks and indentation.
func Text(s string) string { return strings.TrimSpace(clean(s, true)) }

// Output returns one line of a program's output for a terminal, like Text. It keeps all white space.
func Output(s string) string { return clean(s, true) }

func clean(s string, breaks bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := escapeLen(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\n' && breaks, r == '\t' && breaks:
			b.WriteRune(r)
		case r == '\r' && breaks: // a part of a line break, or a character that lets later text overwrite the line
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r), !visible(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxText is the number of bytes of a session's text that Brief keeps. A prompt may have megabytes, and a row shows at
// most some 160 characters.
const maxText = 4 << 10

// Brief returns s with its texts cut to a length that is quick to clean. It keeps the end of the folder's path.
func Brief(s adapters.Session) adapters.Session {
	for _, text := range []*string{&s.Title, &s.FirstPrompt, &s.LastPrompt, &s.Doing, &s.Remote, &s.Evidence} {
		*text = Head(*text)
	}
	if len(s.CWD) > maxText {
		s.CWD = strings.ToValidUTF8(s.CWD[len(s.CWD)-maxText:], "")
	}
	return s
}

// Head returns the first 4 KiB of s. It does not split a character.
func Head(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// escapeLen returns the length of the terminal escape sequence that s starts with, or 0. Removing only the ESC byte would
// leave "[31m".
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

// stringLen returns the length of a control string up to its BEL or ST. It returns 0 if the string does not end on its
// line: the text after an introducer without an end is shown, so that an introducer can hide nothing. The next
// introducer ends the search, as it ends the string in a terminal, so the time is linear in the length.
func stringLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		case s[i] == '\n', s[i] == 0x1b, strings.HasPrefix(s[i:], "\u009d"), strings.HasPrefix(s[i:], "\u0090"):
			return 0
		}
	}
	return 0
}

// Hidden reports whether r must never reach a terminal or a label: r is a control character, or is invisible, or
// reorders its line, such as the tag U+E0041. The joiner and variation selectors of emoji are not hidden.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || !visible(r)
}

// visible reports whether r is a character that readers see, or the joiner (ZWJ) or a variation selector of an emoji.
func visible(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return true
	case r == '\u200d', r >= '\ufe00' && r <= '\ufe0f':
		return true
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return false
	}
	return true
}

// Isolate returns clean text of an agent so that it can stand beside other words: a text with letters that are written from right to left is put between U+2068 and
// U+2069, which keep the order of what is around it. It is for menus and notifications, never for JSON.
func Isolate(s string) string {
	for _, r := range s {
		p, _ := bidi.LookupRune(r)
		if c := p.Class(); c == bidi.R || c == bidi.AL {
			return "\u2068" + s + "\u2069"
		}
	}
	return s
}

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

// Invisible reports whether a reader can't distinguish r from nothing, or from a plain space. Hidden does not count the
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
	return r == '\u2800' // a Braille pattern without dots
}
