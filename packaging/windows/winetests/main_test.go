package main

import (
	"strings"
	"testing"
)

func TestReadEvents(t *testing.T) {
	const (
		begin   = `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}` + "\n"
		removal = `{"Action":"output","Package":"p","Test":"TestA","Output":"    testing.go:1464: TempDir RemoveAll cleanup: unlinkat C:\\users: Invalid function.\n"}` + "\n"
		wrong   = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: got 1\n"}` + "\n"
		end     = `{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.59s)\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n"
		pkg     = `{"Action":"output","Package":"p","Output":"panic: x\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
		passed  = `{"Action":"pass","Package":"p","Test":"TestB"}` + "\n"
	)
	for name, tt := range map[string]struct {
		events           string
		passed, cleanups int
		failures         []string
	}{
		"passed":                   {passed, 1, 0, nil},
		"removal alone":            {begin + removal + end + pkg, 0, 1, nil},
		"removal and another":      {begin + wrong + removal + end + pkg, 0, 0, []string{"got 1"}},
		"another":                  {begin + wrong + end + pkg, 0, 0, []string{"got 1"}},
		"panic":                    {passed + pkg, 1, 0, []string{"panic: x"}},
		"parent of a failed child": {begin + end + strings.ReplaceAll(begin+wrong+end, "TestA", "TestA/b"), 0, 0, []string{"TestA/b"}},
	} {
		s, err := readEvents(strings.NewReader(tt.events))
		if err != nil || s.passed != tt.passed || s.cleanup != tt.cleanups || len(s.failures) != len(tt.failures) {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		for i, want := range tt.failures {
			if !strings.Contains(s.failures[i], want) {
				t.Errorf("%s: %q lacks %q", name, s.failures[i], want)
			}
		}
	}
	if _, err := readEvents(strings.NewReader("no JSON")); err == nil {
		t.Error("what is not JSON counts as no failure")
	}
}
