package codetext

import (
	"slices"
	"testing"
)

// TestWrap: a line breaks between words, a path between its names, and no character is lost.
func TestWrap(t *testing.T) {
	for line, want := range map[string][]string{
		"npm publish --tag latest":            {"npm publish ", "--tag latest"},
		"Edit /home/dev/projects/lex.go":      {"Edit /home/dev/", "projects/lex.go"},
		"a /verylongnameofafolder":            {"a /verylongnameof", "afolder"},
		"cd /home/dev && make test/unit thin": {"cd /home/dev && ", "make test/unit ", "thin"},
	} {
		if got := Wrap(line, 17); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
