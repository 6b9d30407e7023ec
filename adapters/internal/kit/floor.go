package kit

import (
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"rollcall/adapters"
)

// Floor is the oldest version of an agent of which the status of a running session is determined: docs/adding-an-agent.md has the reasons.
type Floor struct{ Title, Version string }

// IsOlder reports whether a version is known, and older than the floor.
func (f Floor) IsOlder(version string) bool {
	return semver.IsValid("v"+numbers(version)) && !AtLeast(version, f.Version)
}

// Reason returns why the status of a running session of an older version is not known. version may be empty.
func (f Floor) Reason(version string) string {
	return fmt.Sprintf("the status of a running session is known from %s %s on, and not of %s", f.Title, f.Version, cmp.Or(numbers(version), "older versions"))
}

// Unknown returns the state of a session that a live process of an older version has, or may have. known is what else there is to say.
func (f Floor) Unknown(version, known string) adapters.State {
	return Unknown(f.Reason(version) + "; " + known)
}

// AtLeast reports whether a version is known, and not older than least. A preview counts as the version that it precedes.
func AtLeast(version, least string) bool {
	v := "v" + numbers(version)
	return semver.IsValid(v) && semver.Compare(v, "v"+least) >= 0
}

// numbers returns the numbers that a version begins with, at most 40 characters of them.
func numbers(version string) string {
	n := len(version) - len(strings.TrimLeft(version, ".0123456789"))
	return version[:min(n, 40)]
}
