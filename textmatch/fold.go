package textmatch

import (
	"unicode"
	"unicode/utf8"
)

// fold returns the one character that represents all cases of r. ASCII letters fold to ASCII
// only: the Kelvin sign and the long s are separate letters.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
		if x >= utf8.RuneSelf && x < least {
			least = x
		}
	}
	return least
}

// casesOf returns the characters that fold to the same character as r. With all, the Kelvin
// sign and the long s are cases of k and s, as they are for regular expressions.
func casesOf(r rune, all bool) []rune {
	list := []rune{r}
	for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
		if all || (x < utf8.RuneSelf) == (r < utf8.RuneSelf) {
			list = append(list, x)
		}
	}
	return list
}
