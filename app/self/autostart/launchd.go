package autostart

import "strings"

// isDisabled reports whether launchctl's answer to print-disabled says that a label is turned off. The answer has one label a line,
// `"LABEL" => disabled` on macOS 13 and later and `"LABEL" => true` before. isDisabled is in a file for all systems so that its tests run
// on any.
func isDisabled(output, label string) bool {
	for line := range strings.Lines(output) {
		name, state, _ := strings.Cut(strings.TrimSpace(line), "=>")
		state = strings.TrimSpace(state)
		if strings.TrimSpace(name) == `"`+label+`"` {
			return state == "disabled" || state == "true"
		}
	}
	return false
}
