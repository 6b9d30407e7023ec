package proc

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// ChildEnv returns the environment of a child process: the entries "NAME=value" of
// base, without the names in drop, and with those in set, which override base and drop.
// Of several entries with one name in base the last one counts. The result is sorted;
// entries without a name, or without "=", are left out. On Windows names are compared
// without regard to case, and have the spelling that came last.
func ChildEnv(base, drop []string, set map[string]string) []string {
	return childEnv(base, drop, set, runtime.GOOS == "windows")
}

func childEnv(base, drop []string, set map[string]string, foldCase bool) []string {
	key := func(name string) string {
		if foldCase {
			return strings.ToUpper(name)
		}
		return name
	}
	entries := make(map[string]string, len(base)+len(set))
	for _, entry := range base {
		if name, _, found := strings.Cut(entry, "="); found && name != "" {
			entries[key(name)] = entry
		}
	}
	for _, name := range drop {
		delete(entries, key(name))
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name != "" {
			entries[key(name)] = name + "=" + set[name]
		}
	}
	return slices.Sorted(maps.Values(entries))
}
