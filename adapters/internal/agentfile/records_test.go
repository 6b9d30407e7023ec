package agentfile

import (
	"slices"
	"strings"
	"testing"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	const a, b, text = `{"type":"a","x":{"type":"a","y":1}}`, `{"type":"b","x":0}`, `{"type":"t","x":"}{\"type\":\"no\",\"x\":1}"}`
	for name, c := range map[string]struct {
		line, want string
		torn       bool
	}{
		"one":                     {a, a, false},
		"a byte order mark":       {"\ufeff" + a, a, false},
		"two":                     {a + b, a + "|" + b, false},
		"three with spaces":       {a + " " + text + "\t" + b + "\r", a + "|" + text + "|" + b, false},
		"what looks like two":     {text, text, false},
		"a part and one":          {a[:20] + b, b, true},
		"one, a part and one":     {b + a[:20] + text, b + "|" + text, true},
		"a part within a text":    {text[:25] + a, a, true},
		"one and a part":          {a + b[:5], a, true},
		"a part alone":            {a[:20], "", true},
		"no object":               {"[1]", "", true},
		"an object within a part": {`{"type":"a","x":{"type":"a","y":1}`, "", true},
		"a part of another form":  {`{"list":[{"type":"no","x":1},{"ty` + a, "", true},
	} {
		var got []string
		n, err := Records([]byte(c.line), func(line []byte) (string, error) {
			return string(line), Top(line, func(_, _ []byte) bool { return true })
		}, func(r *string) { got = append(got, *r) })
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		want := slices.DeleteFunc(strings.Split(c.want, "|"), func(s string) bool { return s == "" })
		if !slices.Equal(got, want) || n != len(want) || (err != nil) != c.torn {
			t.Errorf("%s: %d records %q, error %v; want %q", name, n, got, err, want)
		}
	}
}
