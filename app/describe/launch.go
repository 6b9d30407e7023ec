package describe

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"rollcall/app/owned/launch"
	"rollcall/app/present"
)

// EnvironmentNotes returns what the user should know of a launch that its command line does not show.
func EnvironmentNotes(plan *launch.Plan) []string {
	var notes []string
	if n := len(plan.Command.Stdin); n > 0 {
		notes = append(notes, fmt.Sprintf("The prompt (%s) is sent to its standard input.", humanize.IBytes(uint64(n))))
	}
	if len(plan.Dropped) > 0 {
		why := ""
		if plan.Command.WhyDrop != "" {
			why = ": " + plan.Command.WhyDrop
		}
		notes = append(notes, "Removed from its environment: "+strings.Join(plan.Dropped, ", ")+present.Short(why)+". To keep them, see “Advanced”.")
	}
	return notes
}
