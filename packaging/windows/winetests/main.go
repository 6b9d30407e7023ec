// Command winetests reads the events of `go test -json` from tests that ran under Wine, and compares what failed with a list of the
// tests that fail for a known reason: it exits with 1 if another test failed, or if one of the list passed, was skipped or is gone.
//
//	winetests expected.txt <events
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// test names a test; without a name it is the package as a whole.
type test struct{ pkg, name string }

func (t test) String() string { return strings.TrimSpace(t.pkg + " " + t.name) }

// results is what became of the tests.
type results struct {
	ended  map[test]string // pass, skip, fail
	output map[test]string
	broken []string // of packages that were not built
}

// readEvents reads events until the end of in.
func readEvents(in io.Reader) (*results, error) {
	r := &results{ended: map[test]string{}, output: map[test]string{}}
	for d := json.NewDecoder(in); ; {
		var e event
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, err
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "output":
			r.output[t] += e.Output
		case "build-output":
			r.broken = append(r.broken, e.Output)
		case "pass", "skip", "fail":
			r.ended[t] = e.Action
		}
	}
}

// readExpected reads the list: REASON: lines, and below them "PACKAGE TEST" of the tests that fail for that reason. A reason that
// begins with "sometimes" is one of tests that may pass as well.
func readExpected(text string) (map[test]string, error) {
	expected := map[test]string{}
	reason := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if why, is := strings.CutSuffix(line, ":"); is {
			reason = why
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pkg, name, ok := strings.Cut(line, " ")
		if !ok || reason == "" {
			return nil, fmt.Errorf("the expected failures: %q is no test below a reason", line)
		}
		expected[test{pkg, name}] = reason
	}
	return expected, nil
}

// judge returns what differs from the list, and how many tests failed for each of its reasons.
func (r *results) judge(expected map[test]string) (wrong []string, known map[string]int) {
	wrong = slices.Clone(r.broken)
	known = map[string]int{}
	for t, ended := range r.ended {
		if ended != "fail" || r.hasFailedBelow(t) {
			continue
		}
		reason := expected[t]
		if reason == "" {
			wrong = append(wrong, t.String()+":\n"+r.output[t])
			continue
		}
		known[reason]++
	}
	for t := range expected {
		ended := r.ended[t]
		mayPass := ended == "pass" && strings.HasPrefix(expected[t], "sometimes")
		if ran := r.ended[test{t.pkg, ""}] != ""; ran && ended != "fail" && !mayPass {
			wrong = append(wrong, fmt.Sprintf("%s is expected to fail (%s): %s", t, expected[t], map[string]string{"pass": "it passed", "skip": "it was skipped", "": "it was not run"}[ended]))
		}
	}
	slices.Sort(wrong)
	return wrong, known
}

// hasFailedBelow reports whether a test failed within t, or in the package t: these are judged alone. A package that failed without
// such a test did not end, or was not built.
func (r *results) hasFailedBelow(t test) bool {
	for other, ended := range r.ended {
		if ended != "fail" || other.pkg != t.pkg || other == t {
			continue
		}
		if t.name == "" || strings.HasPrefix(other.name, t.name+"/") {
			return true
		}
	}
	return false
}

// print prints the tests by package, and the reasons.
func (r *results) print(known map[string]int) {
	counts := map[string]map[string]int{}
	for t, ended := range r.ended {
		if counts[t.pkg] == nil {
			counts[t.pkg] = map[string]int{}
		}
		if t.name != "" {
			counts[t.pkg][ended]++
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(counts)) {
		n := counts[pkg]
		fmt.Printf("winetests: %-40s %4d passed, %2d skipped, %2d failed\n", pkg, n["pass"], n["skip"], n["fail"])
	}
	for _, reason := range slices.Sorted(maps.Keys(known)) {
		fmt.Printf("winetests: %d failed as expected: %s\n", known[reason], reason)
	}
}

func run(list string, events io.Reader) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	expected, err := readExpected(string(text))
	if err != nil {
		return err
	}
	r, err := readEvents(events)
	if err != nil {
		return err
	}
	wrong, known := r.judge(expected)
	r.print(known)
	if len(r.ended) == 0 {
		return errors.New("no test ran")
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d differ from %s:\n%s", len(wrong), list, strings.Join(wrong, "\n"))
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: winetests LIST <EVENTS")
		os.Exit(2)
	}
	err := run(os.Args[1], os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "winetests:", err)
		os.Exit(1)
	}
}
