package present

import (
	"strings"

	"rollcall/adapters"
)

// LeftOut returns which agents the settings leave out of what is shown; empty: none.
func LeftOut(agents []adapters.Name) string {
	if len(agents) == 0 {
		return ""
	}
	var names []string
	for _, name := range agents {
		names = append(names, AgentName(name))
	}
	return "left out by the settings: " + strings.Join(names, ", ")
}
