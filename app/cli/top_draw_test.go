package cli

import (
	"slices"
	"testing"
)

// TestWrapLine: a line ends after a word where that wastes little, and nothing of it is left out.
func TestWrapLine(t *testing.T) {
	for line, want := range map[string][]string{
		"":                     {""},
		"needs permission now": {"needs ", "permission ", "now"},
		"a 0123456789abcdef":   {"a 012345678", "9abcdef"},
		"a  b ":                {"a  b "},
		"日本語日本語 x":             {"日本語日本", "語 x"},
	} {
		if got := wrapLine(line, 11); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
