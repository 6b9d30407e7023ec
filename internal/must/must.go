// Package must ends a test that can't go on.
package must

import (
	"os"
	"os/exec"
	"testing"
)

// Do ends the test with err, unless that is nil.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that returns value, or ends the test with err, unless that is nil: must.Get(os.ReadFile(path))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Skip skips a test because this machine lacks something, which why names. With CI=true the test fails: machines of CI have
// everything that tests need.
func Skip(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Have skips a test, as Skip does, unless the programs are installed.
func Have(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			Skip(t, name+" is not installed (packaging/setup installs it)")
		}
	}
}
