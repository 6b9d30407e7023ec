package claudecode

import (
	"slices"
	"strconv"
	"strings"
)

// The versions in which Claude Code changed its behaviour, as far as this was observed.
var (
	firstStopReason = version{2, 1, 100} // the last block of an answer always has its stop_reason, at the latest from here; not in 2.0.50
	firstRegistry   = version{2, 1, 75}  // sessions/<pid>.json, at the latest from here
	lastSummary     = version{2, 1, 0}   // summary lines that title other sessions, before this
	firstClosing    = version{2, 1, 270} // an orderly end is the last record (cost-state), at the latest from here; not in 2.1.175
	firstFollowing  = version{2, 1, 139} // the registry follows /clear, at the latest from here; not in 2.1.100
)

type version [3]int

func parseVersion(s string) (v version, ok bool) {
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 {
		return v, false
	}
	for i, p := range parts {
		if cut := strings.IndexFunc(p, func(r rune) bool { return r < '0' || r > '9' }); cut > 0 && i == 2 {
			p = p[:cut] // "100-beta"
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// before reports whether version s is known and older than v.
func before(s string, v version) bool {
	have, ok := parseVersion(s)
	return ok && slices.Compare(have[:], v[:]) < 0
}

// isFrom reports whether version s is known and not older than v.
func isFrom(s string, v version) bool {
	_, ok := parseVersion(s)
	return ok && !before(s, v)
}

// titledElsewhere reports whether a session of that version may have its title in
// another session's transcript.
func titledElsewhere(s string) bool { return before(s, lastSummary) }

// follows reports whether a process of that version updates its registry entry to its
// new session after /clear. Entries before about 2.1.115 have no version.
func follows(s string) bool { return isFrom(s, firstFollowing) }

// hasRegistry reports whether that version certainly keeps a registry.
func hasRegistry(s string) bool { return isFrom(s, firstRegistry) }

// recordsItsEnd reports whether that version writes a record when its process ends in
// an orderly way for any reason, but not when it is killed.
func recordsItsEnd(s string) bool { return isFrom(s, firstClosing) }
