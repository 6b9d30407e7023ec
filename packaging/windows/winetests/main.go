// Command winetests reads the events of `go test -json` from tests that ran under Wine, prints what failed, and exits with 1 if a
// test failed. A test that failed in nothing but the removal of its temporary folder counts as passed: Wine before version 9
// cannot remove files as Go does since version 1.26. The number of these tests is printed.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// test names a test; without a name it is the package as a whole.
type test struct{ pkg, name string }

// summary is what became of the tests.
type summary struct {
	passed, skipped int
	cleanup         int      // that failed in the removal of their temporary folder alone
	failures        []string // the output of all others that failed
}

// cleanup is what package testing prints when Wine cannot remove a test's temporary folder.
var cleanup = regexp.MustCompile(`TempDir RemoveAll cleanup: .*Invalid function\.`)

// isFrame reports whether a line is one that package testing prints around the output of a test.
func isFrame(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || slices.ContainsFunc([]string{"=== ", "--- FAIL", "--- PASS", "--- SKIP"}, func(p string) bool { return strings.HasPrefix(line, p) })
}

// readEvents reads events until the end of r.
func readEvents(r io.Reader) (s summary, err error) {
	output := map[test]string{}
	failed := map[string]int{} // packages: the number of their tests that failed
	for d := json.NewDecoder(r); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return s, nil
		} else if err != nil {
			return s, err
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "output":
			output[t] += e.Output
		case "build-output":
			s.failures = append(s.failures, e.Output)
		case "skip":
			s.skipped++
		case "pass":
			if e.Test != "" {
				s.passed++
			}
		case "fail":
			s.fail(t, output, failed)
		}
	}
}

// fail counts a test or package that failed.
func (s *summary) fail(t test, output map[test]string, failed map[string]int) {
	if t.name == "" {
		// A package whose tests all ended, and which still failed, panicked or was not built.
		if failed[t.pkg] == 0 {
			s.failures = append(s.failures, t.pkg+":\n"+output[t])
		}
		return
	}
	failed[t.pkg]++
	found := false
	for line := range strings.Lines(output[t]) {
		if cleanup.MatchString(line) {
			found = true
		} else if !isFrame(line) {
			s.failures = append(s.failures, t.pkg+" "+t.name+":\n"+output[t])
			return
		}
	}
	if found {
		s.cleanup++
	}
}

func main() {
	s, err := readEvents(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "winetests:", err)
		os.Exit(1)
	}
	for _, f := range s.failures {
		fmt.Println(f)
	}
	fmt.Printf("winetests: %d tests passed, %d were skipped, %d failed\n", s.passed+s.cleanup, s.skipped, len(s.failures))
	if s.cleanup > 0 {
		fmt.Printf("winetests: this Wine could not remove the temporary folders of %d of them\n", s.cleanup)
	}
	if len(s.failures) > 0 || s.passed+s.cleanup == 0 {
		os.Exit(1)
	}
}
