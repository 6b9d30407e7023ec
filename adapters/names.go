package adapters

import (
	"slices"
	"strings"
)

// added lists what packages add to the name of a program that they wrap: Nix (wrapProgram, any number of underscores follow), flakes and scripts of users.
var added = []string{"-wrapped", "-unwrapped", "-raw", "-real", ".real", "-bin", ".exe"}

// cutName is the length to which Linux cuts the name of a process. macOS cuts it to one more.
const cutName = 15

// IsNamed reports whether the name of a process or of a file is that of a program: the same, with a leading dot (npm's .cline, Nix' .codex-wrapped),
// or with what packages add to it. A name as long as the system cuts it may lack its end.
func IsNamed(name, program string) bool {
	isCut := len(name) >= cutName
	name = strings.TrimPrefix(name, ".")
	rest, is := strings.CutPrefix(name, program)
	if !is {
		return isCut && strings.HasPrefix(program, name)
	}
	for rest != "" {
		more, is := withoutAdded(rest)
		if !is {
			return isCut && beginsAdded(rest)
		}
		rest = more
	}
	return true
}

func withoutAdded(rest string) (more string, is bool) {
	for _, s := range added {
		if more, is := strings.CutPrefix(rest, s); is {
			return strings.TrimLeft(more, "_"), true
		}
	}
	return rest, false
}

func beginsAdded(rest string) bool {
	return slices.ContainsFunc(added, func(s string) bool { return strings.HasPrefix(s, rest) })
}
