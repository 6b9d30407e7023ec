// Package textmatch finds a text or a regular expression in other texts without regard to
// case, and finds at memory speed the lines of a JSON file that can contain it.
package textmatch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a text or a regular expression to search for. It is safe for concurrent use.
type Pattern struct {
	needle  []rune // folded; nil for a regular expression
	re      *regexp.Regexp
	literal literal
}

// Text returns the pattern that finds a text, regardless of case. Letters are compared
// one by one, as Unicode's simple case folding has them: ß is not ss.
func Text(text string) (*Pattern, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	p := &Pattern{needle: []rune(strings.Map(fold, text))}
	p.literal = bestLiteral([][]rune{p.needle}, false)
	return p, nil
}

// Regexp returns the pattern that finds a regular expression of Go's syntax, regardless of
// case. ^ and $ match at the beginning and the end of each line.
func Regexp(expr string) (*Pattern, error) {
	if err := check(expr); err != nil {
		return nil, err
	}
	// The expression alone is compiled first: it must be complete, and an error message must not contain the flags that are added to it.
	_, err := regexp.Compile(expr)
	var re *regexp.Regexp
	if err == nil {
		expr = "(?im)" + expr
		re, err = regexp.Compile(expr)
	}
	if err != nil {
		return nil, fmt.Errorf("the regular expression can't be read: %w", err)
	}
	if re.MatchString("") {
		return nil, errors.New("the regular expression matches every text")
	}
	return &Pattern{re: re, literal: bestLiteral(required(expr), true)}, nil
}

// check returns why a text can't be searched for.
func check(text string) error {
	switch {
	case text == "":
		return errors.New("the text to search for is empty")
	case !utf8.ValidString(text):
		return errors.New("the text to search for is not valid UTF-8")
	}
	return nil
}

// Find returns where the pattern occurs first in a text, in bytes.
func (p *Pattern) Find(text string) (start, end int, ok bool) {
	if p.re != nil {
		at := p.re.FindStringIndex(text)
		if at == nil {
			return 0, 0, false
		}
		return at[0], at[1], true
	}
	first := p.needle[0]
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if fold(r) == first {
			if end, ok := p.matchAt(text, i); ok {
				return i, end, true
			}
		}
		i += n
	}
	return 0, 0, false
}

func (p *Pattern) matchAt(text string, i int) (end int, ok bool) {
	for _, want := range p.needle {
		if i >= len(text) {
			return 0, false
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if fold(r) != want {
			return 0, false
		}
		i += n
	}
	return i, true
}

// CanSpan reports whether the pattern can match across a blank, or after an exclamation mark at
// its beginning. Such a text may be composed of two texts in the file.
func (p *Pattern) CanSpan() bool {
	return p.re != nil || p.needle[0] == '!' || slices.Contains(p.needle, ' ')
}

// Part is the place of a match in a text: the line in which it begins, in three pieces.
type Part struct{ Before, Match, After string }

// Excerpt returns the line in which a match begins, which is at text[start:end]. Each piece
// has at most limit bytes, cut at characters' boundaries; what was cut off is marked by an
// ellipsis.
func Excerpt(text string, start, end, limit int) Part {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i
	}
	p := Part{Before: strings.TrimLeft(text[from:start], " \t\r"), Match: text[start:end], After: strings.TrimRight(text[end:to], " \t\r")}
	if len(p.Before) > limit {
		cut := len(p.Before) - limit
		for cut < len(p.Before) && !utf8.RuneStart(p.Before[cut]) {
			cut++
		}
		p.Before = "…" + p.Before[cut:]
	}
	p.Match, p.After = head(p.Match, limit), head(p.After, limit)
	return p
}

func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
