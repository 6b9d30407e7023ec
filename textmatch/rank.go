package textmatch

import (
	"strings"
	"unicode"
)

// Rank returns how well text has the words of query: in a row, at the beginning of words, or else at least all letters in their order. ok is false if it lacks a
// letter of a word. Of two texts the shorter one ranks higher.
func Rank(text, query string) (n int, ok bool) {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(query)) {
		at := strings.Index(text, word)
		switch begins := strings.Contains(" "+text, " "+word); {
		case begins && at == 0:
			n += 4000
		case begins:
			n += 3000
		case at >= 0:
			n += 2000
		default:
			starts, all := inOrder(text, word)
			if !all {
				return 0, false
			}
			n += 100 * (starts + 1)
		}
	}
	if n == 0 {
		return 0, true // without letters all stay in their order
	}
	return n - min(len(text), 99), true
}

// inOrder reports whether text has all letters of word in their order, and how many of them begin a word of text.
func inOrder(text, word string) (starts int, all bool) {
	rest, before := []rune(word), ' '
	for _, r := range text {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
			if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
				starts++
			}
		}
		before = r
	}
	return starts, len(rest) == 0
}
