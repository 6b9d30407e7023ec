package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestKeepStatus: the status and doctor tell that no keeper runs, and create nothing.
func TestKeepStatus(t *testing.T) {
	env := empty(t)
	if r := execute(t, env, "keep", "--status"); r.code != Done || r.out != "not running, and nothing to keep\n" {
		t.Errorf("%+v", r)
	}
	var s keeperJSON
	if r := execute(t, env, "keep", "--status", "--json"); json.Unmarshal([]byte(r.out), &s) != nil || s.Running || s.Schema != schema {
		t.Errorf("%+v", r)
	}
	if r := execute(t, env, "doctor"); !strings.Contains(r.out, "+ keeper: not running, and nothing to keep\n") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"keep", "--json"}, {"keep", "--status", "--start"}, {"keep", "x"}} {
		if r := execute(t, env, args...); r.code == Done {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
