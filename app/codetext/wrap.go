package codetext

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxCluster is the largest size in bytes of one character with its combining marks. A longer one, which only an attacker writes, is divided.
const maxCluster = 64

// Part is a text with a title, safe to show and whole.
type Part struct {
	Title string // a noun of Rollcall's own; empty: the text needs none
	Text  string
	// Diff reports that the text is a change: its lines begin with "+", "-" or a space.
	Diff bool
	// Markdown reports that the text is Markdown.
	Markdown bool
}

// Wrap divides a line into rows, after a space, or else a slash, where one is in the second half of a row. It leaves out no character, not even a space.
func Wrap(line string, columns int) (rows []string) {
	// Widths are in half columns: a character that the fixed-width font lacks may be two and a half columns wide.
	const narrow, wide = 2, 5
	room := columns * narrow
	begin := 0
	used := 0
	word := 0
	name := 0 // word is where the last word begins, name where the last name of a path does
	for at := 0; at < len(line); {
		n, width := 1, narrow
		if line[at] >= utf8.RuneSelf || at+1 < len(line) && line[at+1] >= utf8.RuneSelf {
			n = cluster(line[at:])
			if n > 1 || line[at] >= utf8.RuneSelf {
				width = wide
			}
		}
		if used+width > room {
			if half := begin + (at-begin)/2; word > half {
				at = word
			} else if name > half {
				at = name
			}
			rows = append(rows, line[begin:at])
			begin, used = at, 0
			continue
		}
		switch line[at] {
		case ' ':
			word = at + n
		case '/':
			name = at + n
		}
		at, used = at+n, used+width
	}
	return append(rows, line[begin:])
}

// cluster returns the size in bytes of the first character of s, as a reader counts characters.
func cluster(s string) int {
	// Only the beginning of s is searched: in a character of a megabyte, each call would search up to its end.
	window := s[:min(len(s), 2*maxCluster)]
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(window, -1)
	n := len(first)
	if n <= maxCluster {
		return max(n, 1)
	}
	for n = maxCluster; n > 1 && !utf8.RuneStart(s[n]); n-- {
	}
	return n
}
