package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestNamesIn: the names are those that the folder has now, however shortly after another one a change was made, and a folder that did not
// change is not read again.
func TestNamesIn(t *testing.T) {
	a := New(adapters.Config{})
	dir := filepath.Join(t.TempDir(), "project")
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) func() error {
		return func() error { return os.WriteFile(at(name), nil, 0o600) }
	}
	names := func() []string {
		list, err := a.namesIn(t.Context(), dir)
		must.Do(t, err)
		return list
	}
	for _, step := range []struct {
		change func() error
		want   []string
	}{
		{func() error { return nil }, nil},
		{func() error { return os.Mkdir(dir, 0o700) }, nil},
		{write("b"), []string{"b"}},
		{write("a"), []string{"a", "b"}},
		{func() error { return os.Rename(at("b"), at("c")) }, []string{"a", "c"}},
		{func() error { return os.Remove(at("a")) }, []string{"c"}},
		{func() error { return os.Rename(dir, dir+" before") }, nil},
		{func() error { return os.Mkdir(dir, 0o700) }, nil},
		{write("d"), []string{"d"}},
	} {
		must.Do(t, step.change())
		for range 2 {
			if got := names(); !slices.Equal(got, step.want) {
				t.Errorf("%q, want %q", got, step.want)
			}
		}
	}
	eventually.True(t, "the names that are known", func() bool {
		first, second := names(), names()
		return &first[0] == &second[0]
	})
}
