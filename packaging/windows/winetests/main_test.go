package main

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestJudge(t *testing.T) {
	ended := func(action, name string) string {
		return fmt.Sprintf("{\"Action\":\"output\",\"Package\":\"p\",\"Test\":%q,\"Output\":\"of %s\\n\"}\n{\"Action\":%q,\"Package\":\"p\",\"Test\":%q}\n", name, name, action, name)
	}
	const list = "no links:\np TestLink\np TestMany/link\nsometimes slow:\np TestA\n"
	good := ended("pass", "TestA") + ended("fail", "TestLink") + ended("fail", "TestMany/link") + ended("fail", "TestMany")
	for name, tt := range map[string]struct{ events, wrong string }{
		"as expected":             {good + ended("fail", ""), ""},
		"another":                 {good + ended("fail", "TestB") + ended("fail", ""), "p TestB:\nof TestB"},
		"another below the same":  {good + ended("fail", "TestMany/b") + ended("fail", ""), "p TestMany/b:\nof TestMany/b"},
		"one that passes by now":  {strings.Replace(good, `"fail","Package":"p","Test":"TestLink"`, `"pass","Package":"p","Test":"TestLink"`, 1) + ended("fail", ""), "p TestLink is expected to fail (no links): it passed"},
		"one that is gone":        {strings.ReplaceAll(good, "TestLink", "TestNew") + ended("fail", ""), "p TestLink is expected to fail (no links): it was not run"},
		"not this package":        {strings.ReplaceAll(ended("pass", "TestA")+ended("pass", ""), `"p"`, `"q"`), ""},
		"a panic":                 {ended("fail", ""), "p:\nof"},
		"a package without build": {`{"Action":"build-output","ImportPath":"p","Output":"x.go:1: no"}` + "\n", "x.go:1: no"},
	} {
		expected := must.Get(readExpected(list))(t)
		r := must.Get(readEvents(strings.NewReader(tt.events)))(t)
		wrong, known := r.judge(expected)
		if all := strings.Join(wrong, "|"); tt.wrong == "" && all != "" || !strings.Contains(all, tt.wrong) {
			t.Errorf("%s: %q, want %q", name, wrong, tt.wrong)
		}
		if name == "as expected" && known["no links"] != 2 {
			t.Errorf("%s: %v", name, known)
		}
	}
	if _, err := readEvents(strings.NewReader("no JSON")); err == nil {
		t.Error("what is not JSON counts as no failure")
	}
	if _, err := readExpected("p TestA\n"); err == nil {
		t.Error("a test without a reason is expected to fail")
	}
}
