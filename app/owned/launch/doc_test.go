package launch

import (
	"maps"
	"slices"
	"testing"

	"rollcall/internal/doctest"
)

func TestHookVariablesDocumented(t *testing.T) {
	const file, heading = "json.md", "Hooks of launches"
	zero := 0
	all := Record{Session: "s", Dir: "/w", Agent: "a", Branch: "b", Group: "g", Model: "m", ExitCode: &zero, Signal: "SIGKILL"}
	set := append(slices.Collect(maps.Keys(hookEnv(&all, "", ""))), promptVariable)
	doctest.SameSet(t, file, heading, doctest.First(doctest.Rows(t, file, heading)), set)
	// What an outer launch set never reaches a hook.
	for _, name := range set {
		if !slices.Contains(hookVariables, name) {
			t.Errorf("%s of another launch would reach a hook", name)
		}
	}
}
