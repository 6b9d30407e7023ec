package proc

import "errors"

// ErrForeign reports that a process is not in the boundary of this one. The reason follows.
var ErrForeign = errors.New("runs in a container or sandbox")

// CheckBoundary returns nil if a process lives under the same conditions as this one: the same mount, pid and user namespaces, the same root
// folder, and neither "no new privileges" nor a seccomp filter that this process does not have. What such a process may do, this
// one may do as well. Otherwise the error wraps ErrForeign and has the reason in words for the user; a process of which this cannot be
// read is foreign too. The error is ErrGone if the process is not alive, before or after, or is ending.
//
// Landlock, AppArmor and SELinux are not considered. On systems other than Linux every live process is in the boundary.
func CheckBoundary(id Identity) error { return Open().CheckBoundary(id) }
