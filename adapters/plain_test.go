package adapters

import "testing"

func TestPlain(t *testing.T) {
	for markdown, want := range map[string]string{
		"":                                       "",
		"## Plan\n\n1. **Redis** first":          "Plan\n\n1. Redis first",
		"call `next()` again":                    "call next() again",
		"#1234 is a number":                      "#1234 is a number",
		"a\n```sh\n# echo `date` **\n```\n**b**": "a\nsh\n# echo `date` **\n\nb",
	} {
		if got := Plain(markdown); got != want {
			t.Errorf("%q: %q, want %q", markdown, got, want)
		}
	}
}
