package doctest

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

type inner struct {
	A string `json:"a"`
}

type outer struct {
	inner
	N    *int64         `json:"n,omitempty"`
	List []string       `json:"list"`
	Map  map[string]int `json:"map,omitempty"`
	At   time.Time      `json:"at,omitzero"`
	Yes  bool           `json:"yes"`
	own  int            //nolint:unused // JSON does not have it
}

func TestKeys(t *testing.T) {
	want := []string{"a | string | no", "n | number | when empty", "list | list | no", "map | object | when empty", "at | string | when empty", "yes | boolean | no"}
	if got := keys(reflect.TypeFor[outer]()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableBelow(t *testing.T) {
	const text = "# one\n\n| x | y |\n|---|---|\n| `a` | b |\n\n## two\n\ntext\n\n| x |\n| --- |\n| `c` |\n| d |\n\n| other |\n|---|\n| e |\n"
	for heading, want := range map[string][][]string{"one": {{"a", "b"}}, "two": {{"c"}, {"d"}}, "three": nil} {
		if got := tableBelow(text, heading); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", heading, got, want)
		}
	}
}

// recorder counts the failures that a comparison reports.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestSameSetFindsEachDifference(t *testing.T) {
	for name, c := range map[string]struct {
		documented, inCode []string
		errors             int
	}{
		"the same":    {[]string{"a", "b"}, []string{"b", "a"}, 0},
		"missing":     {[]string{"a"}, []string{"a", "b"}, 1},
		"superfluous": {[]string{"a", "b"}, []string{"a"}, 2}, // the row, and the count
		"twice":       {[]string{"a", "a"}, []string{"a"}, 1},
	} {
		r := &recorder{TB: t}
		SameSet(r, "f", "h", c.documented, c.inCode)
		if r.errors != c.errors {
			t.Errorf("%s: %d errors, want %d", name, r.errors, c.errors)
		}
	}
}
