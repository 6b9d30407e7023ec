package skeleton

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestMatch: stronger evidence decides, in whatever order it stands, and what only fits counts where nothing else can be meant.
func TestMatch(t *testing.T) {
	type pair struct{ process, session string }
	shown := func(how string, pairs ...pair) func(string, string) string {
		return func(p, s string) string {
			if slices.Contains(pairs, pair{p, s}) {
				return how
			}
			return ""
		}
	}
	type evidence = Evidence[string, string]
	first := func(_ string, list []string) []string { return list[:1] }
	for name, c := range map[string]struct {
		all  []evidence
		want string
	}{
		"a registry goes before a command line": {[]evidence{
			{Rank: Named, Shows: shown("named", pair{"p", "a"}, pair{"q", "b"})},
			{Rank: Registered, Shows: shown("registered", pair{"q", "a"})},
		}, "q has a: registered"},
		"one of two that fit": {[]evidence{{Rank: Fits, Shows: shown("fits", pair{"p", "a"}, pair{"q", "a"})}}, ""},
		"one has two":         {[]evidence{{Rank: Fits, Shows: shown("fits", pair{"p", "a"}, pair{"p", "b"})}}, ""},
		"one picks of two":    {[]evidence{{Rank: Fits, Pick: first, Shows: shown("fits", pair{"p", "a"}, pair{"p", "b"})}}, "p has a: fits"},
		"what is left fits": {[]evidence{
			{Rank: Fits, Shows: shown("fits", pair{"p", "a"}, pair{"q", "a"}, pair{"q", "b"})},
		}, "q has b: fits; p has a: fits"},
		"a weaker sign first tells, then what fits": {[]evidence{
			{Rank: Fits, Shows: shown("fits", pair{"p", "a"}, pair{"q", "a"}, pair{"p", "b"}, pair{"q", "b"})},
			{Rank: Fits, Shows: shown("titled", pair{"p", "a"})},
		}, "p has a: titled; q has b: fits"},
	} {
		owner := map[string]string{}
		var got []string
		isFree := func(p, s string) bool {
			return owner[s] == "" && !slices.Contains(slices.Collect(maps.Values(owner)), p)
		}
		Match([]string{"p", "q"}, []string{"a", "b"}, isFree, func(p, s, how string) {
			owner[s] = p
			got = append(got, fmt.Sprintf("%s has %s: %s", p, s, how))
		}, c.all...)
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}
