package launch

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/app"
)

// FoldersOn returns at most most folders of sessions on a machine, the latest first; an empty name is this machine.
func FoldersOn(s *app.Snapshot, machine string, most int) []string {
	latest := make(map[string]time.Time)
	for x := range s.All() {
		isThere := x.Machine == machine && x.Remote == machine && x.Container == "" && x.CWD != ""
		if machine == "" {
			isThere = x.HasLocalFolder()
		}
		if x.Parent != "" || !isThere {
			continue
		}
		if at, ok := latest[x.CWD]; !ok || x.LastActivityAt.After(at) {
			latest[x.CWD] = x.LastActivityAt
		}
	}
	all := slices.SortedFunc(maps.Keys(latest), func(a, b string) int {
		return cmp.Or(latest[b].Compare(latest[a]), strings.Compare(a, b))
	})
	return all[:min(len(all), most)]
}
